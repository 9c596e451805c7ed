import { isJsonObject, type JsonObject, stringOr } from '../../../json/json-value.ts'
import { writeEvent } from '../../typed-events.ts'
import { itemDone, messageEnd } from './events.ts'
import { createOwnIds, type Gated, joinedResponse, responseIdentity } from './reply.ts'
import { isMessage, isTextPart, joinedParts, messageParts } from './output.ts'

/** An event on its way to the client. */
export type Entry<Event> = {
  /** As it came; null if it is made here. */
  readonly event: Event | null
  readonly name: string
  readonly type: string
  readonly json: JsonObject
  /** The item that it is about. */
  readonly item: StreamItem | null
}

/** How a response ends. */
export type Ending = {
  /** The usage of the answers before the last. */
  readonly usageBefore: JsonObject | null
  /** Calls that were cut are left out. */
  readonly drops: boolean
}

/** What the client has got of a reply: one response, in which numbers and places follow each other without gaps. */
export function createClientStream<Event>() {
  const ownId = createOwnIds()
  const shown: ShownItem[] = []
  /** What the server says of the response: first, and last. */
  let first: JsonObject | null = null
  let latest: JsonObject | null = null
  let isChanged = false
  let hasEnded = false
  /** The number of the last event; null if they have none. */
  let number: number | null = null
  let nextIndex = 0
  let isNamed = false
  /** A message that was cut, and whose end the client did not get. */
  let open: ShownItem | null = null

  function written(name: string, json: JsonObject): readonly string[] {
    if (number !== null) number += 1
    const text = writeEvent(name, number === null ? json : { ...json, sequence_number: number })
    return text === null ? [] : [text]
  }

  function nameOf(type: string): string {
    return isNamed ? type : ''
  }

  function made(json: JsonObject & { readonly type: string }): readonly string[] {
    return written(nameOf(json.type), json)
  }

  function note({ name, json }: Entry<Event>): void {
    isNamed ||= name !== ''
    if (!isChanged && typeof json['sequence_number'] === 'number') number = json['sequence_number']
    if (!isJsonObject(json['response'])) return
    first ??= json['response']
    latest = json['response']
  }

  function begin(item: StreamItem): readonly string[] {
    if (item.shown !== null) return []
    const waiting = open
    open = null
    if (waiting !== null && isMessage(item.json)) {
      waiting.item = item
      item.shown = waiting
      return []
    }
    const before = waiting === null ? [] : ended(waiting, 'completed')
    const index = !isChanged && typeof item.index === 'number' ? item.index : nextIndex
    nextIndex = index + 1
    const id = item.isForeign ? ownId(first ?? {}, item.json) : item.json['id']
    item.shown = { id, index, goesOn: false, before: [], item, isEnded: false }
    shown.push(item.shown)
    return before
  }

  /** The end of an item whose own end the client did not get. */
  function ended(one: ShownItem, status: string): readonly string[] {
    one.isEnded = true
    const json = { ...shownItem(one), status }
    one.item.json = { ...one.item.json, status }
    return (isMessage(json) ? messageEnd(json, one.index) : [itemDone(json, one.index)]).flatMap(made)
  }

  function show(entry: Entry<Event>): readonly (Event | string)[] {
    const { event, type, json, item } = entry
    note(entry)
    if (item === null) return isChanged || event === null ? written(entry.name, json) : [event]
    const before = begin(item)
    if (item.shown === null) return before
    if (type === 'response.output_item.done') item.shown.isEnded = true
    if (!isChanged && event !== null) return [event]
    if (isKnownBeginning(item.shown, type, partIndexOf(json))) return before
    return [...before, ...written(entry.name, placed(json, type, item.shown))]
  }

  return {
    show,
    end: (entry: Entry<Event>, { usageBefore, drops }: Ending) => {
      note(entry)
      hasEnded = true
      const { event, json } = entry
      const { response } = json
      if ((!isChanged && !drops && event !== null) || !isJsonObject(response)) return show(entry)
      isChanged = true
      const status = response['status'] === 'incomplete' && !drops ? 'incomplete' : 'completed'
      const late = open === null ? [] : ended(open, status)
      open = null
      const before = { identity: responseIdentity(first ?? {}), usage: usageBefore }
      const output = shown.map((one) => shownItem(one))
      const joined = { ...json, response: joinedResponse(response, before, output, drops) }
      if (!drops) return [...late, ...written(entry.name, joined)]
      const type = 'response.completed'
      return [...late, ...written(entry.name === '' ? '' : type, { ...joined, type })]
    },
    /** What came is not what the client gets, from here on: its numbers and places are ours. */
    change: () => {
      isChanged = true
    },
    /** A further answer follows. The item, if it is a message that was cut, may go on in it. */
    goOn: (item: StreamItem | null) => {
      isChanged = true
      const goesOn = item?.shown ?? null
      if (goesOn === null || goesOn.isEnded || !isMessage(goesOn.item.json)) return
      open = goesOn
      open.before = shownParts(goesOn)
      open.goesOn = true
      const { json } = goesOn.item
      open.item = { ...goesOn.item, json: { ...json, content: [] }, fedTexts: [], joinedTexts: [] }
    },
    /** The end of a reply that broke off, as of one that was cut; null if nothing is known of the response. */
    cut: (usage: JsonObject | null) => {
      if (latest === null) return null
      const status = 'incomplete'
      const late = shown.filter(({ isEnded }) => !isEnded).flatMap((one) => ended(one, status))
      const response = {
        ...latest,
        ...responseIdentity(first ?? {}),
        status,
        incomplete_details: { reason: 'max_output_tokens' },
        output: shown.map((one) => shownItem(one)),
        usage,
      }
      return [...late, ...made({ type: 'response.incomplete', response })]
    },
    hasEnded: () => hasEnded,
    /** What stands in the `event:` line of an event of this type; '' if the server writes none. */
    nameOf,
  }
}

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

/** The parts of an item of this answer with their texts as a seam joined them. */
export function seamedParts({ joinedTexts }: StreamItem, json: JsonObject): readonly JsonObject[] {
  return messageParts(json).map((part, at) => {
    const text = joinedTexts[at]
    return text === undefined || !isTextPart(part) ? part : { ...part, text }
  })
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

/** An item that the client sees. */
type ShownItem = {
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

/** The parts of an item as the client sees it: what stood there, and what this answer adds. */
function shownParts({ before, item }: ShownItem, json: JsonObject = item.json): readonly JsonObject[] {
  return joinedParts(before, seamedParts(item, json))
}

/** Where the client sees a part of this answer among all of its item's. */
function shownPartIndex({ before, item }: ShownItem, partIndex: number): number {
  const [last, first] = [before.at(-1), messageParts(item.json)[0]]
  const goesOn = last !== undefined && first !== undefined && isTextPart(last) && isTextPart(first)
  return before.length + partIndex - (goesOn ? 1 : 0)
}

/** An item as the client sees it, under the id that it has there. */
function shownItem(shown: ShownItem, json: JsonObject = shown.item.json): JsonObject {
  const content = 'content' in json && json['type'] === 'message' ? { content: shownParts(shown, json) } : {}
  return { ...json, ...(shown.id === undefined ? {} : { id: shown.id }), ...content }
}

/** Whether an event says what the client knows of an item that goes on: that it begins, or that its last text does. */
function isKnownBeginning(shown: ShownItem, type: string, partIndex: number): boolean {
  if (!shown.goesOn) return false
  if (type === 'response.output_item.added') return true
  return type === 'response.content_part.added' && shownPartIndex(shown, partIndex) < shown.before.length
}

/** An event of an item as it is at the place where the client sees the item. */
function placed(json: JsonObject, type: string, shown: ShownItem): JsonObject {
  const index = shownPartIndex(shown, partIndexOf(json))
  const isPartEnd = isClosing(type) && isMessage(shown.item.json) && !isJsonObject(json['item'])
  const part = isPartEnd ? shownParts(shown)[index] : undefined
  const stated: JsonObject = {
    output_index: shown.index,
    ...(shown.id === undefined ? {} : { item_id: shown.id }),
    content_index: index,
    ...(isJsonObject(json['item']) ? { item: shownItem(shown, json['item']) } : {}),
    ...(part === undefined ? {} : { part, text: part['text'] }),
  }
  return { ...json, ...Object.fromEntries(Object.entries(stated).filter(([key]) => key in json)) }
}

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
