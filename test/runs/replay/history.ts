import type { EntryReader, LivedEntry, ReadEntry } from '../harness/lived.ts'

/** An entry of the client's history. */
export type HistoryEntry = LivedEntry & { readonly read: ReadEntry }

/** A client's history as it grows, each entry read once. */
export type History = {
  readonly entries: readonly HistoryEntry[]
  /** The indexes at which an entry of these bytes stands. */
  readonly indexesOf: ReadonlyMap<string, readonly number[]>
  /** The same for what is left of entries without their thoughts. */
  readonly unnamedIndexesOf: ReadonlyMap<string, readonly number[]>
  /** Takes what is new of all entries so far. */
  take(lived: readonly LivedEntry[]): void
}

export function openHistory(readEntry: EntryReader): History {
  const entries: HistoryEntry[] = []
  const indexesOf = new Map<string, number[]>()
  const unnamedIndexesOf = new Map<string, number[]>()
  const note = (indexes: Map<string, number[]>, text: string) =>
    indexes.set(text, [...(indexes.get(text) ?? []), entries.length])
  return {
    entries,
    indexesOf,
    unnamedIndexesOf,
    take(lived) {
      for (const { text, reply } of lived.slice(entries.length)) {
        const read = readEntry(text)
        note(indexesOf, text)
        if (reply !== null && read.kind !== 'thought') note(unnamedIndexesOf, read.unnamed)
        entries.push({ text, read, reply })
      }
    },
  }
}

/** Where a received entry comes from. */
export type EntryOrigin =
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
 * The origin of every received entry, each looked for after the one before it. Of several that it may be (an agent says the
 * same before each of its calls) it is the one that goes on as what was received does.
 */
export function entryOrigins(
  history: History,
  rawEntries: readonly string[],
  readEntry: EntryReader,
): readonly EntryOrigin[] {
  let from = 0
  const received = rawEntries.map((text) => readEntry(text))
  const found = (kind: 'kept' | 'unnamed' | 'derived', candidates: readonly number[], place: number) => {
    const later = candidates.filter((index) => index >= from)
    const next = received[place + 1]
    const goesOn =
      later.length < 2 || next === undefined
        ? undefined
        : later.find((index) => followerOf(history, index) === next.identity)
    const index = goesOn ?? later[0]
    if (index === undefined) return null
    from = index + 1
    return { kind, index }
  }
  return rawEntries.map((text, place): EntryOrigin => {
    const same =
      found('kept', history.indexesOf.get(text) ?? [], place) ??
      found('unnamed', history.unnamedIndexesOf.get(text) ?? [], place)
    if (same !== null) return same
    const read = received[place]
    if (read === undefined || read.isRecap) return { kind: 'recap' }
    const derived = history.entries.flatMap((one, index) =>
      index >= from && one.read.identity === read.identity ? [index] : [],
    )
    return found('derived', derived, place) ?? { kind: 'stray' }
  })
}

// --- internal ---

/** What follows an entry, without thoughts, which may have gone. */
function followerOf({ entries }: History, index: number): string {
  return entries.slice(index + 1).find(({ read }) => read.kind !== 'thought')?.read.identity ?? ''
}
