import type { DatabaseSync } from 'node:sqlite'
import {
  type JournalName,
  journalNames,
  journalRowsMax,
  type Journals,
  rowNumber,
  type StoreLimits,
} from './store.ts'
import { setImmediate } from 'node:timers/promises'

/**
 * A table for each journal. Its oldest rows have the lowest ids, and no id is given twice. Nothing but the id is indexed:
 * rows are written with every request, and those of a conversation are looked for only when it is deleted.
 */
export const journalTables = journalNames
  .map(
    (journal) => `
  CREATE TABLE IF NOT EXISTS ${tableOf(journal)} (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    expires_ms INTEGER,
    conversation TEXT,
    text BLOB NOT NULL
  ) STRICT;
`,
  )
  .join('')

/** The journals of a store in a file. Statements are prepared when they are first needed: most readers need none. */
export function sqliteJournals(database: DatabaseSync, { bytesMax, lifetimeMs }: StoreLimits): Journals {
  const rowsMax = journalRowsMax(bytesMax)
  const writing = new Map<JournalName, ReturnType<typeof prepareWriting>>()

  async function deleteFromAll(condition: string, ...values: readonly (string | number)[]): Promise<number> {
    let total = 0
    for (const journal of journalNames) {
      total += await deleteInSteps(database, tableOf(journal), condition, ...values)
    }
    return total
  }

  return {
    appendRows: async (journal, rows) => {
      if (rows.length === 0) return
      const nowMs = Date.now()
      const kept = rows.slice(-rowsMax)
      const { insert, deleteOldest } = writing.get(journal) ?? prepareWriting(database, tableOf(journal))
      writing.set(journal, { insert, deleteOldest })
      transaction(database, () => {
        for (const { text, group = null } of kept) {
          insert.run(lifetimeMs === 0 ? null : nowMs + lifetimeMs, group, Buffer.from(text, 'utf8'))
        }
        deleteOldest.run(kept.length + SWEEP_ROWS, rowsMax, nowMs)
      })
    },
    readRows: async (journal, { from, beyond, limit }) => {
      const table = tableOf(journal)
      const asked = rowNumber(beyond)
      const last = database.prepare('SELECT seq FROM sqlite_sequence WHERE name = ?').get(table)?.['seq'] ?? 0
      const number = asked === null || asked > Number(last) ? null : asked
      const [side, order, end] =
        from === 'oldest' ? (['>', 'ASC', 0] as const) : (['<', 'DESC', Number.MAX_SAFE_INTEGER] as const)
      const found = database
        .prepare(
          `SELECT id, text FROM ${table} WHERE id ${side} ? AND ${unexpired} ORDER BY id ${order} LIMIT ?`,
        )
        .all(number ?? end, Date.now(), limit)
      return found.map(({ id, text }) => ({ id: String(id), text: textIn(text) ?? '' }))
    },
    deleteGroup: (group) => deleteFromAll(`conversation = ? AND ${unexpired}`, group, Date.now()),
    purge: async () => {
      await deleteFromAll('expires_ms <= ?', Date.now())
      return deleteFromAll('TRUE')
    },
  }
}

/** Rows that are looked through at a time, which takes a few milliseconds. */
const stepRows = 200

/** How long steps are taken one after the other before others are served, in milliseconds. */
const STEPS_MS = 1

/** Does something in one transaction. */
export function transaction<Result>(database: DatabaseSync, work: () => Result): Result {
  database.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    database.exec('COMMIT')
    return result
  } catch (error) {
    // Some errors, a full disk among them, have rolled it back already.
    if (database.isTransaction) database.exec('ROLLBACK')
    throw error
  }
}

/**
 * Deletes the rows of a table for which a condition holds. Since only the id is indexed it goes through the whole table, in
 * steps between which requests are served. Resolves with how many rows it deleted.
 */
export async function deleteInSteps(
  database: DatabaseSync,
  table: string,
  condition: string,
  ...values: readonly (string | number)[]
): Promise<number> {
  const stepEnd = database.prepare(
    `SELECT max(id) AS id FROM (SELECT id FROM ${table} WHERE id > ? ORDER BY id LIMIT ${stepRows})`,
  )
  const step = database.prepare(`DELETE FROM ${table} WHERE id > ? AND id <= ? AND ${condition}`)
  let total = 0
  let beganMs = performance.now()
  for (let from = 0; ;) {
    const to = Number(stepEnd.get(from)?.['id'] ?? 0)
    if (to === 0) return total
    total += Number(step.run(from, to, ...values).changes)
    from = to
    // Most steps find nothing to delete, and there may be thousands of them.
    if (performance.now() - beganMs < STEPS_MS) continue
    await setImmediate()
    beganMs = performance.now()
  }
}

/** The condition of rows that have not expired at the time that is its one parameter. */
export const unexpired = '(expires_ms IS NULL OR expires_ms > ?)'

/** The text of a column that holds its UTF-8 bytes: SQLite's own texts must not hold a NUL. */
export function textIn(value: unknown): string | null {
  if (!(value instanceof Uint8Array)) return null
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('utf8')
}

// --- internal ---

/** Rows that a write may delete beyond as many as it adds: after a bound was lowered, or when many have expired. */
const SWEEP_ROWS = 16

function prepareWriting(database: DatabaseSync, table: string) {
  return {
    insert: database.prepare(`INSERT INTO ${table} (expires_ms, conversation, text) VALUES (?, ?, ?)`),
    // Only the first rows are looked at: expired ones mostly stand there, and are never read wherever they stand.
    deleteOldest: database.prepare(
      `DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table} ORDER BY id LIMIT ?) ` +
        `AND (id <= (SELECT max(id) FROM ${table}) - ? OR expires_ms <= ?)`,
    ),
  }
}

function tableOf(journal: JournalName): string {
  return `journal_${journal}`
}
