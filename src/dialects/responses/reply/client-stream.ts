import { isJsonObject, type JsonObject } from '../../../conversation/json-value.ts'
import { writeEvent } from '../../typed-events.ts'
import { itemDone, messageEnd } from './events.ts'
import {
  isClosing,
  isKnownBeginning,
  partIndexOf,
  shownItem,
  type ShownItem,
  shownPartIndex,
  shownParts,
  type StreamItem,
} from './stream-item.ts'
import { createOwnIds, joinedResponse, responseIdentity } from './joined-response.ts'
import { isMessage } from './output.ts'

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
export type ClientStream<Event> = {
  readonly show: (entry: Entry<Event>) => readonly (Event | string)[]
  readonly end: (entry: Entry<Event>, ending: Ending) => readonly (Event | string)[]
  /** What came is not what the client gets, from here on: its numbers and places are ours. */
  readonly change: () => void
  /** A further answer follows. The item, if it is a message that was cut, may go on in it. */
  readonly goOn: (item: StreamItem | null) => void
  /** The end of a reply that broke off, as of one that was cut; null if nothing is known of the response. */
  readonly cut: (usage: JsonObject | null) => readonly string[] | null
  readonly hasEnded: () => boolean
  /** What stands in the `event:` line of an event of this type; '' if the server writes none. */
  readonly nameOf: (type: string) => string
}

export function createClientStream<Event>(): ClientStream<Event> {
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
    end: (entry, { usageBefore, drops }) => {
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
    change: () => {
      isChanged = true
    },
    goOn: (item) => {
      isChanged = true
      const goesOn = item?.shown ?? null
      if (goesOn === null || goesOn.isEnded || !isMessage(goesOn.item.json)) return
      open = goesOn
      open.before = shownParts(goesOn)
      open.goesOn = true
      const { json } = goesOn.item
      open.item = { ...goesOn.item, json: { ...json, content: [] }, fedTexts: [], joinedTexts: [] }
    },
    cut: (usage) => {
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
    nameOf,
  }
}

// --- internal ---

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
