import {
  isJsonObject,
  type JsonObject,
  stringifyJson,
  stringOr,
  objectsOf,
} from '../../../json/json-value.ts'
import { finishOf, parseAnswerText } from '../../answer-json.ts'
import type { AnswerReader, ClientWriter, Move, Part, AnswerParts, AnswerWire } from '../../reply-wire.ts'
import { type NewEvent, readTypedEvent, type TypedEvent, writeEvent } from '../../typed-events.ts'
import { createStreamedUsage, readMessageAnswer, totalUsage } from '../read-answer.ts'
import { blockStop, textDelta } from './events.ts'

/** A message: its parts are its blocks, in places that follow each other without gaps. */
export const messageAnswerWire: AnswerWire = {
  readEvent: (text) => readTypedEvent(text, (type) => type !== ''),
  openReader: createReader,
  openWriter: createWriter,
  textsOf: ({ text }) => [stringOr(text, '')],
  withTexts: (json, [text]) => ({ ...json, text }),
  joined: joinedBlocks,
  textOf: contentText,
  call: ({ json, argumentsText }) => ({
    id: stringOr(json['id'], ''),
    name: stringOr(json['name'], ''),
    argumentsText: argumentsText === '' ? (stringifyJson(json['input'] ?? {}) ?? '{}') : argumentsText,
  }),
  isCutCall: () => true,
  // The blocks as they came, for the answers to calls: they go back so, thoughts included, since they belong together.
  kept: (content) => ({ content }),
  hasRefusal: (_, finish) => finish === 'filtered',
  usageOf: totalUsage,
  reasons: { calls: 'tool_use', end: 'end_turn' },
  refusesEmptyTexts: true,
}

export function isTextBlock(block: JsonObject): boolean {
  return block['type'] === 'text'
}

/** Whether a block is such as a server may bind to all that stood before it. */
export function isThought({ type }: JsonObject): boolean {
  return type === 'thinking' || type === 'redacted_thinking' || type === 'connector_text'
}

// --- internal ---

/** Whether a block is a call that the client answers. What the server's own tools did has types of its own. */
function isToolUse(block: JsonObject): boolean {
  return block['type'] === 'tool_use'
}

/** What the texts among some blocks say. Neighbours are one text, cut where what is cited begins and ends. */
function contentText(blocks: readonly JsonObject[]): string {
  let text = ''
  let before: JsonObject | undefined
  for (const block of blocks) {
    if (isTextBlock(block)) {
      const words = stringOr(block['text'], '')
      const isApart = before !== undefined && !isTextBlock(before) && text !== '' && words !== ''
      text += (isApart ? '\n\n' : '') + words
    }
    before = block
  }
  return text
}

/** A text that was cut, and goes on in another. */
function joinedBlocks(before: JsonObject, next: JsonObject): JsonObject {
  const citations: unknown[] = [before['citations'], next['citations']].filter(Array.isArray).flat()
  return {
    ...before,
    text: stringOr(before['text'], '') + stringOr(next['text'], ''),
    ...(citations.length > 0 ? { citations } : {}),
  }
}

function createReader(parts: AnswerParts, toolName: string | null): AnswerReader {
  /** The latest at each place. */
  const placed = new Map<unknown, Part>()
  const streamed = createStreamedUsage()
  let stopReason: string | null = null
  let about: JsonObject = {}

  function add(block: JsonObject, index?: unknown): Part {
    const kind = isTextBlock(block)
      ? 'text'
      : isThought(block)
        ? 'thought'
        : isToolUse(block)
          ? 'call'
          : 'other'
    return parts.add(kind, block, { index, isOurs: kind === 'call' && block['name'] === toolName })
  }

  function takeBlock(json: JsonObject & { readonly type: string }): readonly Move[] {
    const { type, index, content_block: block, delta } = json
    if (type === 'content_block_start') {
      const part = add(isJsonObject(block) ? block : {}, index)
      placed.set(index, part)
      // It grows, and its beginning does not.
      const { citations } = part.begun
      part.json = {
        ...part.begun,
        ...(Array.isArray(citations) ? { citations: [...(citations as unknown[])] } : {}),
      }
      const text = part.kind === 'text' ? stringOr(part.json['text'], '') : ''
      return [
        { kind: 'begin', part, json },
        ...(text === '' ? [] : [{ kind: 'text', part, at: 0, text, json } as const]),
      ]
    }
    const part = placed.get(index)
    // Of a block that never began only a first answer tells.
    if (part === undefined) return [{ kind: 'once', json }]
    if (type === 'content_block_stop') {
      part.json = withInput(part)
      return [{ kind: 'close', part, isAll: true, json }]
    }
    if (isJsonObject(delta)) grow(part, delta)
    const text = isJsonObject(delta) ? delta['text'] : undefined
    return part.kind === 'text' && typeof text === 'string'
      ? [{ kind: 'text', part, at: 0, text, json }]
      : [{ kind: 'more', part, json }]
  }

  function take({ type, json: event }: TypedEvent): readonly Move[] {
    const json = { ...event, type }
    switch (type) {
      case 'message_start':
        if (isJsonObject(event['message'])) streamed.add(event['message']['usage'])
        return [{ kind: 'once', json }]
      case 'message_delta': {
        streamed.add(event['usage'])
        const reason = isJsonObject(event['delta']) ? event['delta']['stop_reason'] : undefined
        stopReason = stringOr(reason, stopReason)
        return [{ kind: 'end', says: 'reason', json }]
      }
      case 'message_stop':
        return [{ kind: 'end', says: 'last', json }]
      case 'content_block_start':
      case 'content_block_delta':
      case 'content_block_stop':
        return takeBlock(json)
      default:
        return []
    }
  }

  return {
    take,
    takePlain: (body) => {
      if (!Array.isArray(body['content']) || readMessageAnswer(body)?.isError !== false) return false
      for (const block of objectsOf(body['content'])) add(block)
      stopReason = stringOr(body['stop_reason'], null)
      streamed.add(body['usage'])
      about = body
      return true
    },
    finish: () => finishOf(stopReason),
    usage: streamed.value,
    about: () => about,
  }
}

function createWriter(): ClientWriter {
  /** Whose message it is, and what was left out of the client's request. */
  let identity: JsonObject | null = null

  return {
    note: ({ json }) => {
      const message = isJsonObject(json['message']) ? json['message'] : 'content' in json ? json : null
      if (message === null) return
      const keys = ['id', 'input_transformations'].filter((key) => key in message)
      identity ??= Object.fromEntries(keys.map((key) => [key, message[key]]))
    },
    begin: ({ place: index, part }) => {
      const begun = part?.begun ?? {}
      const block = part?.kind === 'text' ? { ...begun, text: '' } : begun
      return written({ type: 'content_block_start', index, content_block: block })
    },
    text: ({ place }, { text }) => (text === '' ? [] : written(textDelta(place, text))),
    more: ({ place: index }, { json }) => written({ ...json, type: 'content_block_delta', index }),
    close: ({ place }) => written(blockStop(place)),
    end: ({ says, json }, ending) => {
      if (says !== 'reason') return null
      const stated = isJsonObject(json['delta']) ? json['delta']['stop_reason'] : undefined
      return writtenEnd(json, ending.reason ?? stated, ending.usage)
    },
    cut: ({ usage }, hasEnded) => [
      ...(hasEnded ? [] : writtenEnd({}, 'max_tokens', usage)),
      ...written({ type: 'message_stop' }),
    ],
    body: (ending) => {
      const { about, usage } = ending
      return {
        ...about,
        ...identity,
        content: ending.parts(),
        stop_reason: ending.reason ?? about['stop_reason'],
        ...(usage === null ? {} : { usage }),
      }
    },
  }
}

/** Longer arguments no model writes. */
const INPUT_CHARACTERS_MAX = 1 << 20

function grow(part: Part, delta: JsonObject): void {
  const { type, text, thinking, partial_json: json, citation, signature, content } = delta
  const grown: Record<string, unknown> = part.json
  if (typeof text === 'string') grown['text'] = stringOr(grown['text'], '') + text
  if (typeof thinking === 'string') grown['thinking'] = stringOr(grown['thinking'], '') + thinking
  if (typeof json === 'string') part.argumentsText += json
  if (citation !== undefined) {
    const { citations } = grown
    if (Array.isArray(citations)) citations.push(citation)
    else grown['citations'] = [citation]
  }
  if (type === 'signature_delta') grown['signature'] = signature
  if (type !== 'compaction_delta') return
  grown['content'] = content
  if ('encrypted_content' in delta) grown['encrypted_content'] = delta['encrypted_content']
}

/** A block with its arguments. Such as were cut are none, nor are some that no model writes. */
function withInput({ json, argumentsText: text }: Part): JsonObject {
  if (text === '') return json
  const input = text.length > INPUT_CHARACTERS_MAX ? undefined : parseAnswerText(text)
  return { ...json, input: isJsonObject(input) ? input : {} }
}

function writtenEnd(json: JsonObject, reason: unknown, usage: JsonObject | null): readonly string[] {
  const delta = isJsonObject(json['delta']) ? json['delta'] : { stop_sequence: null }
  const stated = { ...json, type: 'message_delta', delta: { ...delta, stop_reason: reason } }
  return written(usage === null ? stated : { ...stated, usage })
}

function written(event: NewEvent): readonly string[] {
  return [writeEvent(event.type, event)]
}
