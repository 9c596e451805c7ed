import { type JsonObject, objectsOf } from '../../../json/json-value.ts'
import { type NewEvent, writeEvent } from '../../typed-events.ts'
import { isMessage, messageParts } from './output.ts'

/** The texts that items and parts of messages have, by their types: the key of each, and the events that write it. */
export const writtenTexts: ReadonlyMap<unknown, { readonly key: string; readonly event: string }> = new Map([
  ['function_call', { key: 'arguments', event: 'response.function_call_arguments' }],
  ['custom_tool_call', { key: 'input', event: 'response.custom_tool_call_input' }],
  ['output_text', { key: 'text', event: 'response.output_text' }],
  ['refusal', { key: 'refusal', event: 'response.refusal' }],
])

/** Whether an event of this type is the last of a response. */
export function isEnding(type: string): boolean {
  return Object.hasOwn(endings, type)
}

/** The status of a response in an event of this type, which says it too. */
export function statusOf(type: string, response: JsonObject): unknown {
  return response['status'] ?? (isEnding(type) ? endings[type] : undefined)
}

/** Whether an event is the last word of a stream; looked up without parsing it. */
export function isDone(event: string): boolean {
  return lastWord.test(event)
}

/** The events that say what a plain response says; '' in place of what is nested too deep to be written. */
export function responseEvents(body: JsonObject): readonly string[] {
  const begun = { ...body, status: 'in_progress', output: [], usage: null, incomplete_details: null }
  const isIncomplete = body['status'] === 'incomplete'
  const events: readonly NewEvent[] = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...objectsOf(body['output']).flatMap(itemEvents),
    { type: isIncomplete ? 'response.incomplete' : 'response.completed', response: body },
  ]
  return events.map((event, at) => writeEvent(event.type, { ...event, sequence_number: at }))
}

/** The events that say what a whole item says, at this place of the output. */
export function itemEvents(item: JsonObject, outputIndex: number): readonly NewEvent[] {
  const added = (begun: JsonObject): NewEvent => ({
    type: 'response.output_item.added',
    output_index: outputIndex,
    item: begun,
  })
  const place = { item_id: item['id'], output_index: outputIndex }
  if (isMessage(item)) {
    return [
      added({ ...item, status: 'in_progress', content: [] }),
      ...messageParts(item).flatMap((part, index) => partEvents(part, { ...place, content_index: index })),
      itemDone(item, outputIndex),
    ]
  }
  const text = writtenTexts.get(item['type'])
  if (text === undefined || typeof item[text.key] !== 'string')
    return [added(item), itemDone(item, outputIndex)]
  return [
    added({ ...item, status: 'in_progress', [text.key]: '' }),
    { type: `${text.event}.delta`, ...place, delta: item[text.key] },
    { type: `${text.event}.done`, ...place, [text.key]: item[text.key] },
    itemDone(item, outputIndex),
  ]
}

export function itemDone(item: JsonObject, outputIndex: number): NewEvent {
  return { type: 'response.output_item.done', output_index: outputIndex, item }
}

/** The event by which a part of a message begins. */
export function partBegun(part: JsonObject, place: JsonObject): NewEvent {
  const text = writtenTexts.get(part['type'])
  const begun =
    text === undefined ? part : { ...part, [text.key]: '', ...emptied(part, 'annotations', 'logprobs') }
  return { type: 'response.content_part.added', ...place, part: begun }
}

/** The events by which it ends. */
export function partEnd(part: JsonObject, place: JsonObject): readonly NewEvent[] {
  const text = writtenTexts.get(part['type'])
  const done = { type: 'response.content_part.done', ...place, part }
  if (text === undefined) return [done]
  return [{ type: `${text.event}.done`, ...place, [text.key]: part[text.key], ...probabilities(part) }, done]
}

// --- internal ---

const endings: Readonly<Record<string, string>> = {
  'response.completed': 'completed',
  'response.incomplete': 'incomplete',
  'response.failed': 'failed',
}

const lastWord =
  /(?:^|[\r\n])(?:data:\s*\[DONE\]|event:\s*response\.(?:completed|incomplete|failed)\s*(?:[\r\n]|$))|"type"\s*:\s*"response\.(?:completed|incomplete|failed)"/

function partEvents(part: JsonObject, place: JsonObject): readonly NewEvent[] {
  const text = writtenTexts.get(part['type'])
  const written =
    text === undefined
      ? []
      : [{ type: `${text.event}.delta`, ...place, delta: part[text.key], ...probabilities(part) }]
  return [partBegun(part, place), ...written, ...partEnd(part, place)]
}

/** The events of a text state the probabilities of its tokens, even if there are none. */
function probabilities(part: JsonObject): JsonObject {
  if (part['type'] !== 'output_text') return {}
  return { logprobs: Array.isArray(part['logprobs']) ? part['logprobs'] : [] }
}

function emptied(part: JsonObject, ...keys: readonly string[]): JsonObject {
  return Object.fromEntries(keys.filter((key) => Array.isArray(part[key])).map((key) => [key, []]))
}
