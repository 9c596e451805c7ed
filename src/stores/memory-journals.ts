import { perJournal } from './per-journal.ts'
import { rowNumber } from './row-number.ts'
import type { JournalPage, JournalRow, Journals, NewJournalRow } from './store.ts'

export type MemoryJournalsOptions = {
  /** How many rows each journal may hold. */
  readonly rowsMax: number
  /** How long a row is kept, in milliseconds; 0: for ever. */
  readonly lifetimeMs: number
}

/** Journals that live as long as the process. */
export function memoryJournals(options: MemoryJournalsOptions): Journals {
  const journals = perJournal(() => memoryJournal(options))
  const all = Object.values(journals)
  return {
    appendRows: async (journal, rows) => journals[journal].append(rows),
    readRows: async (journal, page) => journals[journal].read(page),
    deleteGroup: async (group) => sum(all.map((each) => each.deleteGroup(group))),
    purge: async () => sum(all.map((each) => each.purge())),
  }
}

// --- internal ---

type Row = {
  readonly number: number
  readonly text: string
  readonly group: string | undefined
  /** On the process's own clock, which never goes back: rows end in the order they were written in. */
  readonly expiresMs: number
}

/**
 * Ids begin with the time at which the journal was opened, so that who comes back with an id of a process before gets
 * the rows of this one. No journal is written this many rows a millisecond for long.
 */
const NUMBERS_PER_MS = 100

/** What is let go at a time, as a share of what a journal may hold: the array is not moved for every row. */
const SLACK = 0.25

function memoryJournal({ rowsMax, lifetimeMs }: MemoryJournalsOptions) {
  let rows: Row[] = []
  /** Where the rows that stand begin. */
  let first = 0
  let lastNumber = Date.now() * NUMBERS_PER_MS

  function forgetOld(): void {
    const nowMs = performance.now()
    first = Math.max(first, rows.length - rowsMax)
    while ((rows[first]?.expiresMs ?? Infinity) <= nowMs) first += 1
    if (first < rows.length && first <= rowsMax * SLACK) return
    rows = rows.slice(first)
    first = 0
  }

  /** Where the row with this number stands, or would. */
  function indexOf(number: number): number {
    let [low, high] = [first, rows.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((rows[middle]?.number ?? Infinity) < number) low = middle + 1
      else high = middle
    }
    return low
  }

  function pageOf({ from, beyond, limit }: JournalPage): readonly Row[] {
    const number = rowNumber(beyond)
    if (from === 'oldest') {
      const start = number === null || number > lastNumber ? first : indexOf(number + 1)
      return rows.slice(start, start + limit)
    }
    const end = number === null ? rows.length : indexOf(number)
    return rows.slice(Math.max(first, end - limit), end).toReversed()
  }

  return {
    append(added: readonly NewJournalRow[]): void {
      const expiresMs = lifetimeMs === 0 ? Infinity : performance.now() + lifetimeMs
      for (const { text, group } of added) {
        lastNumber += 1
        rows.push({ number: lastNumber, text, group, expiresMs })
      }
      forgetOld()
    },
    read(page: JournalPage): readonly JournalRow[] {
      forgetOld()
      return pageOf(page).map(({ number, text }) => ({ id: String(number), text }))
    },
    deleteGroup(group: string): number {
      forgetOld()
      const standing = rows.length - first
      rows = rows.slice(first).filter((row) => row.group !== group)
      first = 0
      return standing - rows.length
    },
    purge(): number {
      forgetOld()
      const standing = rows.length - first
      rows = []
      first = 0
      return standing
    },
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0)
}
