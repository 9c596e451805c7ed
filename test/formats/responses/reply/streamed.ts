import { ResponseStream } from 'openai/lib/responses/ResponseStream'
import { isJsonObject, type JsonObject } from '../../../../src/json/json-value.ts'
import type { StreamEvent } from '../../../../src/formats/answer-contract.ts'
import { responses } from '../../../../src/formats/responses/responses.ts'
import { asStream } from '../../../../src/formats/typed-events.ts'
import { eventOf, eventsIn } from '../../joined.ts'

/** What an answer says beside its items. */
export type About = {
  readonly id?: string
  readonly status?: string
  readonly reason?: string
  readonly usage?: object
  readonly more?: object
}

export function message(words: string, id = 'msg_1', more: object = {}): JsonObject {
  const content = [{ type: 'output_text', text: words, annotations: [], logprobs: [] }]
  return { id, type: 'message', role: 'assistant', status: 'completed', content, ...more }
}

export const thought = (id = 'rs_1', encrypted = `secret of ${id}`): JsonObject => ({
  id,
  type: 'reasoning',
  summary: [],
  encrypted_content: encrypted,
})

export function callOf(name: string, args = '{}', id = `fc_${name}`): JsonObject {
  return { id, type: 'function_call', status: 'completed', call_id: `call_${id}`, name, arguments: args }
}

export const search = (id = 'ws_1'): JsonObject => ({
  id,
  type: 'web_search_call',
  status: 'completed',
  action: { type: 'search', query: 'q' },
})

export function responseOf(output: readonly JsonObject[], about: About = {}): JsonObject {
  const { id = 'resp_1', reason, usage, more } = about
  const status = about.status ?? (reason === undefined ? 'completed' : 'incomplete')
  return {
    id,
    object: 'response',
    created_at: id.length,
    model: 'm',
    status,
    error: null,
    incomplete_details: reason === undefined ? null : { reason },
    output,
    usage: usage ?? null,
    ...more,
  }
}

/** The events of an answer, as OpenAI sends them; texts come in pieces of so many characters. */
export function streamOf(
  output: readonly JsonObject[],
  about: About = {},
  pieceCharacters = 3,
): readonly StreamEvent[] {
  const whole = asStream(responses.answers, responseOf(output, about))?.text ?? ''
  const pieces = eventsIn(whole.split(/(?<=\n\n)/)).flatMap((event) => {
    const { delta } = event
    if (typeof delta !== 'string') return [event]
    const parts = delta.match(new RegExp(`[^]{1,${pieceCharacters}}`, 'g')) ?? []
    return parts.map((part) => ({ ...event, delta: part }))
  })
  return numbered(pieces)
}

/** The events with numbers from 0 on. */
export const numbered = (events: readonly JsonObject[]): readonly StreamEvent[] =>
  events.map((event, at) => eventOf({ ...event, sequence_number: at }))

/** The response that a stream ends with. */
export function endOf(events: readonly (StreamEvent | string)[]): JsonObject {
  const ends = eventsIn(events).filter(({ type }) =>
    ['response.completed', 'response.incomplete', 'response.failed'].includes(String(type)),
  )
  const [end] = ends
  if (ends.length !== 1 || !isJsonObject(end?.['response'])) throw new Error(`${ends.length} ends`)
  return end['response']
}

/**
 * The response that OpenAI's own library makes of a stream. It checks every event: that it is of an item that has begun, that
 * items keep their ids, that none has the id of another, and that the last event knows all of them.
 */
export async function readBySdk(events: readonly (StreamEvent | string)[]): Promise<JsonObject> {
  const lines = eventsIn(events).map((event) => `${JSON.stringify(event)}\n`)
  const stream = ResponseStream.fromReadableStream(new Blob(lines).stream())
  const response: unknown = JSON.parse(JSON.stringify(await stream.finalResponse()))
  return isJsonObject(response) ? response : {}
}

/** What the pieces of a stream's texts add up to, by item. */
export function textsIn(events: readonly (StreamEvent | string)[]): Record<string, string> {
  const texts: Record<string, string> = {}
  for (const { type, delta, item_id: id } of eventsIn(events)) {
    if (type === 'response.output_text.delta') texts[String(id)] = (texts[String(id)] ?? '') + String(delta)
  }
  return texts
}
