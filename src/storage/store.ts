import type { Eventual } from '../scheduling/drive.ts'

/** A value with its key, and the conversation that it belongs to. `yields`: it is only written where the key has no value. */
export type StoreEntry = {
  readonly key: string
  readonly value: string
  readonly group?: string
  readonly yields?: boolean
}

/** A value that was found, with the index of its key among those that were asked for. */
export type FoundEntry = { readonly index: number; readonly value: string }

/**
 * Where decisions are remembered: compaction records, seen requests, summaries, what was learnt of upstreams. Keys already
 * carry the scope. One contract suite (`test/contracts/store-contract.ts`) defines what an implementation owes.
 */
export type Store = {
  /** For the start line, metrics and messages. Carries no credentials. */
  readonly name: string
  /** The value of the first of `keys` that has one, with its index; null if none has. */
  readonly getFirst: (keys: readonly string[]) => Eventual<FoundEntry | null>
  /**
   * Writes `value` unless the key has one already, and returns the value that stands: the first wins. `group` names
   * the conversation that it belongs to.
   */
  readonly putIfAbsent: (key: string, value: string, group?: string) => Promise<string>
  /**
   * Writes values, replacing what was there unless they yield. Several cost little more than one. If a write fails, each of its values may
   * or may not have been written.
   */
  readonly put: (entries: readonly StoreEntry[]) => Promise<void>
  /**
   * Adds rows at the end of a journal, in this order. They are kept as long as values are; beyond what a journal may
   * hold (`journalRowsMax`) its oldest rows are deleted. A row is a line of figures and names, some 600 bytes.
   */
  readonly appendRows: (journal: JournalName, rows: readonly NewJournalRow[]) => Promise<void>
  /** A page of the rows of a journal. */
  readonly readRows: (journal: JournalName, page: JournalPage) => Promise<readonly JournalRow[]>
  /** Deletes the values and rows that were written with this group. Resolves with how many those were. */
  readonly deleteGroup: (group: string) => Promise<number>
  /** Deletes everything that Foldgate has written, leases too. Resolves with how many values and rows those were. */
  readonly purge: () => Promise<number>
  /** Whether `holder` holds the lease for `leaseMs` from now on: it was free, its time was up, or it was its own. */
  readonly lease: (key: string, holder: string, leaseMs: number) => Promise<boolean>
  /** Gives a lease back; nothing happens if another holds it. */
  readonly release: (key: string, holder: string) => Promise<void>
  readonly close: () => Promise<void>
}

/** How much a store may keep, and for how long. */
export type StoreLimits = {
  /** Keys and values, in bytes, about; beyond it those that were written longest ago are deleted. Journals come on top. */
  readonly bytesMax: number
  /** How long a value or a row is kept after it was last written, in milliseconds; 0: for ever. */
  readonly lifetimeMs: number
}

/** The journals: rows of each are kept apart. */
export const journalNames = ['events', 'usage', 'totals'] as const
export type JournalName = (typeof journalNames)[number]

export type NewJournalRow = {
  readonly text: string
  /** The conversation that it belongs to. */
  readonly group?: string
}

/** A row as it was written, with the id by which later ones are asked for. Ids of one journal ascend; they mean nothing else. */
export type JournalRow = { readonly id: string; readonly text: string }

export type JournalPage = {
  /** `oldest`: the rows after `beyond`, oldest first. `newest`: the rows before it, newest first. */
  readonly from: 'oldest' | 'newest'
  /**
   * The id to go on from, whether or not its row still stands; null: from the first row, or from the last one. Any text
   * may come from a client, such as the id of a row in another store: one that has not the form of this store's ids, or is
   * ahead of all that it has given, reads as null. Otherwise a reader that goes on from it would wait for rows in vain.
   */
  readonly beyond: string | null
  /** Rows at most, which are read in one go; a whole number above 0. A few hundred take milliseconds. */
  readonly limit: number
}

/** The part of a store that keeps journals. */
export type Journals = Pick<Store, 'appendRows' | 'readRows'>

/**
 * How many rows a journal may hold in a store of this size, in bytes. All journals together take about a tenth of it, so
 * that they never drive the records out, without which conversations lose their prompt cache. In a tiny store they
 * take more than that: a page that shows fewer than a hundred rows is of no use.
 */
export function journalRowsMax(bytesMax: number): number {
  const rows = Math.floor((bytesMax * JOURNALS_SHARE) / (journalNames.length * ROW_BYTES))
  return Math.min(ROWS_MAX, Math.max(ROWS_MIN, rows))
}

/** The number of a row that an id names, if ids are plain numbers; null for anything else. */
export function rowNumber(id: string | null): number | null {
  return id !== null && /^\d{1,15}$/.test(id) ? Number(id) : null
}

// --- internal ---

const JOURNALS_SHARE = 0.1

/** About the size of a row: a few dozen figures and names as JSON. */
const ROW_BYTES = 600

const ROWS_MIN = 100

/** Days of a busy agent. Reading all of them takes a tenth of a second. */
const ROWS_MAX = 20_000
