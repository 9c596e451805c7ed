import { isJsonObject, type JsonObject, stringOr } from '../../../conversation/json-value.ts'
import type { Gated } from './joined-response.ts'
import { isTextPart, joinedParts, messageParts } from './output.ts'

/** An item of the answer that flows. */
export type StreamItem = Gated & {
  /** As its events add up. */
  json: JsonObject
  /** Its place in the answer's output, as the server states it. */
  readonly index: unknown
  isDone: boolean
  /** The texts of its parts that a seam took so far, and what it made of them; empty in the first answer. */
  readonly fedTexts: string[]
  readonly joinedTexts: string[]
  /** Its end says more than its deltas, so that it has to be seen. */
  isLoose: boolean
  /** Null while the client has seen nothing of it. */
  shown: ShownItem | null
}

/** An item that the client sees. */
export type ShownItem = {
  readonly id: unknown
  readonly index: number
  /** It began in an answer before, in which it was cut. */
  goesOn: boolean
  /** What the client saw there of its content. */
  before: readonly JsonObject[]
  item: StreamItem
  /** The client got its end. */
  isEnded: boolean
}

/** The parts of an item of this answer with their texts as a seam joined them. */
export function seamedParts({ joinedTexts }: StreamItem, json: JsonObject): readonly JsonObject[] {
  return messageParts(json).map((part, at) => {
    const text = joinedTexts[at]
    return text === undefined || !isTextPart(part) ? part : { ...part, text }
  })
}

/** The parts of an item as the client sees it: what stood there, and what this answer adds. */
export function shownParts({ before, item }: ShownItem, json: JsonObject = item.json): readonly JsonObject[] {
  return joinedParts(before, seamedParts(item, json))
}

/** Where the client sees a part of this answer among all of its item's. */
export function shownPartIndex({ before, item }: ShownItem, partIndex: number): number {
  const [last, first] = [before.at(-1), messageParts(item.json)[0]]
  const goesOn = last !== undefined && first !== undefined && isTextPart(last) && isTextPart(first)
  return before.length + partIndex - (goesOn ? 1 : 0)
}

/** An item as the client sees it, under the id that it has there. */
export function shownItem(shown: ShownItem, json: JsonObject = shown.item.json): JsonObject {
  const content = 'content' in json && json['type'] === 'message' ? { content: shownParts(shown, json) } : {}
  return { ...json, ...(shown.id === undefined ? {} : { id: shown.id }), ...content }
}

/** Whether an event says what the client knows of an item that goes on: that it begins, or that its last text does. */
export function isKnownBeginning(shown: ShownItem, type: string, partIndex: number): boolean {
  if (!shown.goesOn) return false
  if (type === 'response.output_item.added') return true
  return type === 'response.content_part.added' && shownPartIndex(shown, partIndex) < shown.before.length
}

/** Whether an event states the end of a message, or of a part of one. */
export function isClosing(type: string): boolean {
  return closing.has(type)
}

/** The texts of an item's parts, '' for one that is no text. */
export function partTexts(json: JsonObject): readonly string[] {
  return messageParts(json).map((part) => (isTextPart(part) ? stringOr(part['text'], '') : ''))
}

/** An item of an output as it is after an event that writes it. What an event does not write stays. */
export function grownItem(item: JsonObject, type: string, event: JsonObject): JsonObject {
  const { delta, part } = event
  switch (type) {
    case 'response.output_item.done':
      return isJsonObject(event['item']) ? event['item'] : item
    case 'response.content_part.added':
    case 'response.content_part.done':
      return isJsonObject(part) ? withPart(item, event, () => part) : item
    case 'response.output_text.delta':
      return withPart(item, event, (before) =>
        grownPart({ type: 'output_text', annotations: [], ...before }, 'text', delta),
      )
    case 'response.output_text.done':
      return withPart(item, event, (before) => ({
        type: 'output_text',
        annotations: [],
        ...before,
        text: event['text'],
      }))
    case 'response.refusal.delta':
      return withPart(item, event, (before) => grownPart({ type: 'refusal', ...before }, 'refusal', delta))
    case 'response.function_call_arguments.delta':
      return grownPart(item, 'arguments', delta)
    case 'response.function_call_arguments.done':
      return { ...item, arguments: event['arguments'] ?? item['arguments'] }
    case 'response.custom_tool_call_input.delta':
      return grownPart(item, 'input', delta)
    case 'response.custom_tool_call_input.done':
      return { ...item, input: event['input'] ?? item['input'] }
    default:
      return item
  }
}

/** Which part of its item an event is about. */
export function partIndexOf(event: JsonObject): number {
  const index = event['content_index']
  return typeof index === 'number' && Number.isSafeInteger(index) && index >= 0 ? index : 0
}

// --- internal ---

const closing: ReadonlySet<string> = new Set([
  'response.output_text.done',
  'response.content_part.done',
  'response.output_item.done',
])

function grownPart(object: JsonObject, key: string, delta: unknown): JsonObject {
  return { ...object, [key]: stringOr(object[key], '') + stringOr(delta, '') }
}

function withPart(
  item: JsonObject,
  event: JsonObject,
  grown: (part: JsonObject | undefined) => JsonObject,
): JsonObject {
  const parts = [...messageParts(item)]
  // An index beyond the parts is that of a new one.
  const at = Math.min(partIndexOf(event), parts.length)
  parts[at] = grown(parts[at])
  return { ...item, content: parts }
}
