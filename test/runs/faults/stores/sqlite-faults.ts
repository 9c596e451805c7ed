import { truncateSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { journalNames } from '../../../../src/stores/store.ts'
import { overwrite, settle } from './damage.ts'
import type { FailingStore, StoreFault } from './store-stand.ts'

/** What may happen to a file that is in use. */
export const sqliteFaults: readonly StoreFault[] = [
  {
    name: 'another program takes the file, and lets it go',
    isNoticed: true,
    open: () =>
      withFile((path) => {
        let other: DatabaseSync | null = null
        return {
          breaks: () => {
            other = new DatabaseSync(path)
            other.exec('BEGIN EXCLUSIVE')
          },
          mends: () => other?.close(),
        }
      }),
  },
  {
    name: 'its pages are overwritten with garbage',
    isNoticed: true,
    open: () => withFile((path) => ({ breaks: () => overwrite(path), mends: null })),
  },
  {
    name: 'it is emptied',
    isNoticed: true,
    open: () =>
      withFile((path) => ({
        breaks: () => {
          settle(path)
          // In the same tick: a write of Foldgate's own in between would leave a log, and SQLite another message.
          truncateSync(path, 0)
        },
        mends: null,
      })),
  },
  {
    name: 'it is deleted',
    isNoticed: false,
    open: () =>
      withFile((path) => ({
        breaks: async () => {
          for (const end of ['', '-wal', '-shm']) await rm(path + end)
        },
        mends: null,
      })),
  },
]

/** The clock jumps between two requests. */
export const sqliteClockFaults: readonly StoreFault[] = [
  {
    name: 'of SQLite it goes forward by a year: every row has outlived its time',
    isNoticed: false,
    open: () => withFile((path) => ({ breaks: () => shiftRows(path, -YEAR_MS), mends: null })),
  },
  {
    name: 'of SQLite it goes back by a year: every row is from the future',
    isNoticed: false,
    open: () => withFile((path) => ({ breaks: () => shiftRows(path, YEAR_MS), mends: null })),
  },
]

// --- internal ---

async function withFile(
  fails: (path: string) => Pick<FailingStore, 'breaks' | 'mends'>,
): Promise<FailingStore> {
  const folder = await mkdtemp(join(tmpdir(), 'foldgate-fault-'))
  const path = join(folder, 'store.sqlite')
  return {
    url: `sqlite:${path}`,
    ...fails(path),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}

/** Moves the ends of all rows: the clock of a store is the system's, which stays where it is here. */
function shiftRows(path: string, byMs: number): void {
  const other = new DatabaseSync(path)
  for (const table of ['entries', 'leases', ...journalNames.map((name) => `journal_${name}`)]) {
    other.prepare(`UPDATE ${table} SET expires_ms = expires_ms + ?`).run(byMs)
  }
  other.close()
}

const YEAR_MS = 365 * 86_400_000
