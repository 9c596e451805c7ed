import { isObject } from '../../support/strict-upstream/wire-message.ts'
import type { LivedItem } from '../../support/responses/living.ts'
import { typeOf, type WireItem } from '../../support/responses/wire-item.ts'

/** An item of the client's history. */
export type HistoryItem = LivedItem & { readonly item: WireItem }

/** A client's history as it grows, each item read once. */
export type History = {
  readonly items: readonly HistoryItem[]
  /** The indexes at which an item of these bytes stands. */
  readonly indexesOf: ReadonlyMap<string, readonly number[]>
  /** The same for items without their id: its reasoning may have gone (P1's one exception). */
  readonly unnamedIndexesOf: ReadonlyMap<string, readonly number[]>
  /** Takes what is new of all items so far. */
  take(lived: readonly LivedItem[]): void
}

export function openHistory(): History {
  const items: HistoryItem[] = []
  const indexesOf = new Map<string, number[]>()
  const unnamedIndexesOf = new Map<string, number[]>()
  return {
    items,
    indexesOf,
    unnamedIndexesOf,
    take(lived) {
      for (const { text, reply } of lived.slice(items.length)) {
        const item = parsedItem(text)
        note(indexesOf, text, items.length)
        if (reply !== null && typeOf(item) !== 'reasoning')
          note(unnamedIndexesOf, text.replace(/"id":"[^"]*",/, ''), items.length)
        items.push({ text, item, reply })
      }
    },
  }
}

/** An item by its JSON. */
export function parsedItem(text: string): WireItem {
  const parsed: unknown = JSON.parse(text)
  return isObject(parsed) ? parsed : {}
}

// --- internal ---

function note(indexes: Map<string, number[]>, text: string, index: number): void {
  indexes.set(text, [...(indexes.get(text) ?? []), index])
}
