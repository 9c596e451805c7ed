import { journalNames, type Store } from './store.ts'

/** The part of a store that keeps journals. */
export type Journals = Pick<Store, 'appendRows' | 'readRows' | 'deleteGroup' | 'purge'>

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
