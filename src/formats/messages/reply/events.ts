import { type JsonObject, stringifyJson, stringOr, objectsOf } from '../../../json/json-value.ts'
import { type NewEvent, writeEvent } from '../../typed-events.ts'

/** Whether an event is the last word of a stream; looked up without parsing it. */
export function isLastEvent(event: string): boolean {
  return lastWord.test(event)
}

/** The events that say what a plain message says; '' in place of what is nested too deep to be written. */
export function messageEvents(body: JsonObject): readonly string[] {
  const { usage, context_management: managed } = body
  const ends = stated(body, 'stop_reason', 'stop_sequence', 'stop_details', 'container')
  const unsaid = Object.fromEntries(Object.keys(ends).map((key) => [key, null]))
  const events: readonly (NewEvent | null)[] = [
    { type: 'message_start', message: { ...body, content: [], ...unsaid } },
    ...objectsOf(body['content']).flatMap(blockEvents),
    {
      type: 'message_delta',
      delta: ends,
      ...(managed === undefined ? {} : { context_management: managed }),
      ...(usage === undefined ? {} : { usage }),
    },
    { type: 'message_stop' },
  ]
  return events.map((event) => (event === null ? '' : writeEvent(event.type, event)))
}

export function blockStop(index: number): NewEvent {
  return { type: 'content_block_stop', index }
}

export function textDelta(index: number, text: string): NewEvent {
  return { type: 'content_block_delta', index, delta: { type: 'text_delta', text } }
}

// --- internal ---

const lastWord =
  /(?:^|[\r\n])(?:data:\s*\[DONE\]|event:\s*(?:message_stop|error)\s*(?:[\r\n]|$))|"type"\s*:\s*"message_stop"/

function stated(body: JsonObject, ...keys: readonly string[]): JsonObject {
  return Object.fromEntries(keys.filter((key) => key in body).map((key) => [key, body[key]]))
}

function blockEvents(block: JsonObject, index: number): readonly (NewEvent | null)[] {
  const written = pieces(block)
  if (written === null) return [null]
  const { begun, deltas } = written
  return [
    { type: 'content_block_start', index, content_block: begun },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    blockStop(index),
  ]
}

type Pieces = { readonly begun: JsonObject; readonly deltas: readonly JsonObject[] }

/** A block as it begins, and what writes the rest of it. */
function pieces(block: JsonObject): Pieces | null {
  const { type, text, thinking, signature, citations, input, content, encrypted_content: encrypted } = block
  switch (type) {
    case 'text': {
      const cited = Array.isArray(citations) ? citations : []
      return {
        begun: { ...block, text: '', ...(cited.length > 0 ? { citations: [] } : {}) },
        deltas: [
          ...(text === '' ? [] : [{ type: 'text_delta', text: stringOr(text, '') }]),
          ...cited.map((citation: unknown) => ({ type: 'citations_delta', citation })),
        ],
      }
    }
    case 'thinking':
      return {
        begun: { ...block, thinking: '', signature: '' },
        deltas: [
          ...(thinking === '' ? [] : [{ type: 'thinking_delta', thinking: stringOr(thinking, '') }]),
          ...(typeof signature === 'string' ? [{ type: 'signature_delta', signature }] : []),
        ],
      }
    case 'tool_use':
    case 'server_tool_use':
    case 'mcp_tool_use': {
      const json = stringifyJson(input ?? {})
      if (json === null) return null
      return { begun: { ...block, input: {} }, deltas: [{ type: 'input_json_delta', partial_json: json }] }
    }
    case 'compaction':
      return {
        begun: { ...block, content: null },
        deltas: [
          {
            type: 'compaction_delta',
            content,
            ...(encrypted === undefined ? {} : { encrypted_content: encrypted }),
          },
        ],
      }
    default:
      return { begun: block, deltas: [] }
  }
}
