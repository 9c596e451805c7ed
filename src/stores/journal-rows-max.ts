import { journalNames } from './store.ts'

/**
 * How many rows a journal may hold in a store of this size, in bytes. All journals together take about a tenth of it, so
 * that they never drive the records out, without which conversations lose their prompt cache. In a tiny store they
 * take more than that: a page that shows fewer than a hundred rows is of no use.
 */
export function journalRowsMax(bytesMax: number): number {
  const rows = Math.floor((bytesMax * JOURNALS_SHARE) / (journalNames.length * ROW_BYTES))
  return Math.min(ROWS_MAX, Math.max(ROWS_MIN, rows))
}

// --- internal ---

const JOURNALS_SHARE = 0.1

/** What a row takes, about: a few dozen figures and names as JSON. */
const ROW_BYTES = 600

const ROWS_MIN = 100

/** Days of a busy agent. Reading all of them stays a matter of a tenth of a second. */
const ROWS_MAX = 20_000
