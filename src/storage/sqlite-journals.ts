import type { DatabaseSync } from 'node:sqlite'
import {
  type JournalName,
  journalNames,
  journalRowsMax,
  type Journals,
  rowNumber,
  type StoreLimits,
} from './store.ts'
import { deleteInSteps, textIn, transaction, unexpired } from './sqlite-steps.ts'

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
