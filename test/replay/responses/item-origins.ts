import { BARE_MARK } from '../../../src/compaction/recap/recap.ts'
import { callIdOf, partsOf, typeOf, type WireItem } from '../../support/responses/wire-item.ts'
import { textOf } from '../../support/strict-upstream/wire-message.ts'
import { parsedItem, type History } from './history.ts'

/** Where a received item comes from. */
export type ItemOrigin =
  /** One of the client's, byte for byte. */
  | { readonly kind: 'kept'; readonly index: number }
  /** The same without its id, whose reasoning has gone. */
  | { readonly kind: 'unnamed'; readonly index: number }
  /** Made of one of the client's: same type, same ids. */
  | { readonly kind: 'derived'; readonly index: number }
  /** A recap or a summary. */
  | { readonly kind: 'recap' }
  /** Not one of the client's, or not in the client's order. */
  | { readonly kind: 'stray' }

/**
 * The origin of every received item, each looked for after the one before it. Of several that it may be (an agent says the
 * same before each of its calls) it is the one that goes on as what was received does.
 */
export function itemOrigins(history: History, rawItems: readonly string[]): readonly ItemOrigin[] {
  let from = 0
  const received = rawItems.map(parsedItem)
  const found = (kind: 'kept' | 'unnamed' | 'derived', candidates: readonly number[], place: number) => {
    const later = candidates.filter((index) => index >= from)
    const next = received[place + 1]
    const goesOn =
      later.length < 2 || next === undefined
        ? undefined
        : later.find((index) => identity(followerOf(history, index)) === identity(next))
    const index = goesOn ?? later[0]
    if (index === undefined) return null
    from = index + 1
    return { kind, index }
  }
  return rawItems.map((text, place): ItemOrigin => {
    const same =
      found('kept', history.indexesOf.get(text) ?? [], place) ??
      found('unnamed', history.unnamedIndexesOf.get(text) ?? [], place)
    if (same !== null) return same
    const item = received[place] ?? {}
    if (isRecap(item)) return { kind: 'recap' }
    const made = identity(item)
    const derived = history.items.flatMap((one, index) =>
      index >= from && identity(one.item) === made ? [index] : [],
    )
    return found('derived', derived, place) ?? { kind: 'stray' }
  })
}

// --- internal ---

function isRecap(item: WireItem): boolean {
  if (typeOf(item) !== 'message' || item['role'] !== 'user') return false
  return partsOf(item['content'], 'input_text').some((part) => {
    const text = textOf(part['text'])
    return /<conversation-(?:recap|summary)/.test(text) || text === BARE_MARK
  })
}

/** What follows an item, without reasoning, which may have gone. */
function followerOf({ items }: History, index: number): WireItem {
  return items.slice(index + 1).find(({ item }) => typeOf(item) !== 'reasoning')?.item ?? {}
}

/** What shortening an item leaves as it is: the names of its fields but for the id, and what it belongs to. */
function identity(item: WireItem): string {
  const type = typeOf(item)
  const names = Object.keys(item).filter((name) => name !== 'id')
  const callId = type === 'message' || type === 'reasoning' ? '' : callIdOf(item)
  return JSON.stringify([type, item['role'], item['name'], callId, names])
}
