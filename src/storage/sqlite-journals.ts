import type { DatabaseSync } from 'node:sqlite'
import { journalTable, textIn, transaction, unexpired } from './sqlite-file.ts'
import { type JournalName, journalRowsMax, type Journals, rowNumber, type StoreLimits } from './store.ts'

/** The journals of a store in a file. Statements are prepared when they are first needed: most readers need none. */
export function sqliteJournals(database: DatabaseSync, { bytesMax, lifetimeMs }: StoreLimits): Journals {
  const rowsMax = journalRowsMax(bytesMax)
  const writing = new Map<JournalName, ReturnType<typeof prepareWriting>>()

  return {
    appendRows: async (journal, rows) => {
      if (rows.length === 0) return
      const nowMs = Date.now()
      const kept = rows.slice(-rowsMax)
      const { insert, deleteOldest } = writing.get(journal) ?? prepareWriting(database, journalTable(journal))
      writing.set(journal, { insert, deleteOldest })
      transaction(database, () => {
        for (const { text, group = null } of kept) {
          insert.run(lifetimeMs === 0 ? null : nowMs + lifetimeMs, group, Buffer.from(text, 'utf8'))
        }
        deleteOldest.run(kept.length + SWEEP_ROWS, rowsMax, nowMs)
      })
    },
    readRows: async (journal, { from, beyond, limit }) => {
      const table = journalTable(journal)
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
