import { readInPages, type Journals } from './journals.ts'
import type { RedisConnection } from './redis-connection.ts'
import { appendRowsScript, deleteGroupRowsScript, readRowsScript } from './redis-journal-scripts.ts'
import { journalNames, type JournalName, type JournalPage, type JournalRow } from './store.ts'

export type RedisJournalsOptions = {
  /** How many rows each journal may hold. */
  readonly rowsMax: number
  /** How long a row is kept, in milliseconds; 0: for ever. */
  readonly lifetimeMs: number
}

/** The journals of a store on a Redis-compatible server, but for their purge: they go with all keys of the store. */
export function redisJournals(
  { run }: Pick<RedisConnection, 'run'>,
  { rowsMax, lifetimeMs }: RedisJournalsOptions,
): Omit<Journals, 'purge'> {
  const lifetime = String(Math.ceil(lifetimeMs))

  async function readPage(
    journal: JournalName,
    { from, beyond, limit }: JournalPage,
  ): Promise<readonly JournalRow[]> {
    const edge = beyond !== null && isEntryId(beyond) ? beyond : ''
    const found = await run(readRowsScript, [journal, lifetime, from, edge, String(limit)])
    return rowsOf(found)
  }

  async function deleteGroupOf(journal: JournalName, group: string): Promise<number> {
    for (let total = 0, beyond = ''; ;) {
      const reply = await run(deleteGroupRowsScript, [journal, lifetime, group, beyond])
      const [deleted, last]: readonly unknown[] = Array.isArray(reply) ? reply : []
      total += Number(deleted)
      if (typeof last !== 'string' || last === '') return total
      beyond = last
    }
  }

  return {
    appendRows: async (journal, rows) => {
      if (rows.length === 0) return
      const words = rows.slice(-rowsMax).flatMap(({ text, group = '' }) => [group, text])
      await run(appendRowsScript, [journal, lifetime, String(rowsMax), ...words])
    },
    readRows: (journal, page) => readInPages(page, READ_STEP_ROWS, (each) => readPage(journal, each)),
    deleteGroup: async (group) => {
      // Rows without one have an empty one there.
      if (group === '') return 0
      let total = 0
      for (const journal of journalNames) total += await deleteGroupOf(journal, group)
      return total
    },
  }
}

// --- internal ---

/** Rows that one step of reading takes: the server serves nobody else meanwhile. */
const READ_STEP_ROWS = 500

/** Nothing else is passed to the server as an id: it knows other words, such as `-`, and refuses the rest, nothing before `0-0` among it. */
function isEntryId(text: string): boolean {
  return /^[1-9]\d{0,14}-\d{1,15}$/.test(text)
}

function rowsOf(reply: unknown): readonly JournalRow[] {
  const words: readonly unknown[] = Array.isArray(reply) ? reply : []
  const rows: JournalRow[] = []
  for (let index = 0; index + 1 < words.length; index += 2) {
    rows.push({ id: String(words[index]), text: String(words[index + 1]) })
  }
  return rows
}
