/** An item, a block or a message of a client's history. */
export type LivedEntry = {
  /** Its JSON, the same in every request. */
  readonly text: string
  /** The step of the reply that it came with; null if the client said it or was only told it. */
  readonly reply: number | null
}

/** What the checks want to know of an entry. */
export type ReadEntry = {
  /** What its operator told the model, what a user said, what the model thought; anything else. */
  readonly kind: 'told' | 'user' | 'thought' | 'other'
  /** What shortening it leaves as it is. */
  readonly identity: string
  /** Whether it is a recap or a summary. */
  readonly isRecap: boolean
  /** Its text without what goes with its thoughts (P1's one exception). */
  readonly unnamed: string
  /** By the judge's count. */
  readonly tokens: number
}

export type EntryReader = (text: string) => ReadEntry

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
  return {
    entries,
    indexesOf,
    unnamedIndexesOf,
    take(lived) {
      for (const { text, reply } of lived.slice(entries.length)) {
        const read = readEntry(text)
        note(indexesOf, text, entries.length)
        if (reply !== null && read.kind !== 'thought') note(unnamedIndexesOf, read.unnamed, entries.length)
        entries.push({ text, read, reply })
      }
    },
  }
}

// --- internal ---

function note(indexes: Map<string, number[]>, text: string, index: number): void {
  indexes.set(text, [...(indexes.get(text) ?? []), index])
}
