import { setImmediate } from 'node:timers/promises'
import { parseJsonText } from '../../conversation/json-value.ts'
import type { StoreGuard } from '../../stores/store-guard.ts'
import type { JournalName, Store } from '../../stores/store.ts'
import { usageRowSchema, type UsageRow } from './rows.ts'

/** Reads what other processes have written to the journals, those before this one included. */
export type Tail = {
  /** Reads on from where it stopped. Resolves with whether there was anything new. */
  readonly catchUp: () => Promise<boolean>
}

export type TailOptions = {
  readonly store: Pick<Store, 'readRows'>
  readonly guarded: StoreGuard
  /** This process: what it has written itself is passed over. */
  readonly process: string
  readonly onUsage: (row: UsageRow) => void
  readonly onTotals: (text: string) => void
}

export function createTail({ store, guarded, process, onUsage, onTotals }: TailOptions): Tail {
  const readUpTo: Partial<Record<JournalName, string>> = {}
  let reading: Promise<boolean> | null = null

  async function readJournal(journal: JournalName, take: (text: string) => boolean): Promise<boolean> {
    for (let isNews = false; ;) {
      const beyond = readUpTo[journal] ?? null
      const rows = await guarded([], () =>
        store.readRows(journal, { from: 'oldest', beyond, limit: ROWS_PER_READ }),
      )
      for (const { id, text } of rows) {
        readUpTo[journal] = id
        if (take(text)) isNews = true
      }
      if (rows.length < ROWS_PER_READ) return isNews
      await setImmediate()
    }
  }

  function takeUsage(text: string): boolean {
    const row = usageRowSchema.safeParse(parseJsonText(text)).data
    if (row === undefined || row.process === process) return false
    onUsage(row)
    return true
  }

  async function readAll(): Promise<boolean> {
    const hasTotals = await readJournal('totals', (text) => {
      onTotals(text)
      return true
    })
    return (await readJournal('usage', takeUsage)) || hasTotals
  }

  return {
    catchUp: () => {
      // Two that read at once would take each row twice.
      reading ??= readAll().finally(() => {
        reading = null
      })
      return reading
    },
  }
}

// --- internal ---

/** Each page is read in one go, with SQLite some milliseconds; in between others are served. */
const ROWS_PER_READ = 200
