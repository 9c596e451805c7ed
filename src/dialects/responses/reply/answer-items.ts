import { isJsonObject, stringOr, type JsonObject } from '../../../conversation/json-value.ts'
import type { CallRules } from '../../answer-contract.ts'
import { grownItem } from './growing-item.ts'
import { createItemGate } from './item-gate.ts'
import { isMessage } from './output.ts'
import { isClosing, partTexts, type StreamItem } from './stream-item.ts'

/** The items of the answer that flows, as its events tell of them. */
export type AnswerItems = {
  /** Takes an event; the item that it is about, null if it is about none. */
  readonly take: (type: string, event: JsonObject) => StreamItem | null
  readonly all: () => readonly StreamItem[]
  readonly hasOurs: () => boolean
  /** Whether there are so many items, or parts of one, that each further event would take long. */
  readonly areTooMany: () => boolean
  /** No more items come: what waited for one is decided on. */
  readonly end: () => void
}

export function createAnswerItems(rules: CallRules, isFurther: boolean): AnswerItems {
  const gate = createItemGate<StreamItem>(rules, isFurther)
  const items: StreamItem[] = []
  let hasLongItem = false

  /**
   * Items are told apart by their ids. Some servers give an event another one, or none, but the right place. llama.cpp gave
   * a call neither in its first months, and named it by its `call_id`.
   */
  function itemOf(event: JsonObject): StreamItem | undefined {
    const { item, item_id: itemId, output_index: index } = event
    const stated = isJsonObject(item) ? item : {}
    const id = stringOr(itemId ?? stated['id'], '')
    const callId = stringOr(itemId ?? stated['call_id'], '')
    const begun = items.filter(({ isDone }) => !isDone)
    return (
      begun.findLast(({ json }) => id !== '' && json['id'] === id) ??
      begun.findLast((each) => typeof index === 'number' && each.index === index) ??
      begun.findLast(({ json }) => callId !== '' && json['call_id'] === callId)
    )
  }

  function add(json: JsonObject, index: unknown, isLoose: boolean): StreamItem {
    const item: StreamItem = {
      json,
      index,
      fate: 'waiting',
      isForeign: false,
      isDone: false,
      isLoose,
      fedTexts: [],
      joinedTexts: [],
      shown: null,
    }
    items.push(item)
    gate.take(item)
    hasLongItem ||= isLong(item)
    return item
  }

  function grown(item: StreamItem, type: string, event: JsonObject): StreamItem {
    grow(item, type, event)
    hasLongItem ||= isLong(item)
    return item
  }

  return {
    take: (type, event) => {
      const { item: json, output_index: index } = event
      if (type === 'response.output_item.added' && isJsonObject(json)) return add(json, index, false)
      const known = itemOf(event)
      if (known !== undefined) return grown(known, type, event)
      return isJsonObject(json) ? grown(add(json, index, true), type, event) : null
    },
    all: () => items,
    hasOurs: gate.hasOurs,
    areTooMany: () => hasLongItem || items.length > ITEMS_MAX,
    end: gate.end,
  }
}

// --- internal ---

/** No model makes more items in one answer; an event is looked for in all of them. */
const ITEMS_MAX = 1_024

/** Nor parts of a message, which are copied by every event that writes one. */
const PARTS_MAX = 1_024

function isLong({ json: { content } }: StreamItem): boolean {
  return Array.isArray(content) && content.length > PARTS_MAX
}

function grow(item: StreamItem, type: string, event: JsonObject): void {
  const before = item.json
  item.json = grownItem(before, type, event)
  item.isDone = type === 'response.output_item.done'
  if (isClosing(type) && isMessage(item.json)) {
    const [known, stated] = [partTexts(before), partTexts(item.json)]
    item.isLoose ||= known.length !== stated.length || known.some((text, at) => text !== stated[at])
  }
}
