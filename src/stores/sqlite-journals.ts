import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { perJournal } from './per-journal.ts'
import { readInPages } from './read-in-pages.ts'
import { rowNumber } from './row-number.ts'
import { inSteps, stepEnd, stepRows, textOf, throughSteps, transaction } from './sqlite-access.ts'
import {
  journalNames,
  type JournalName,
  type JournalPage,
  type JournalRow,
  type Journals,
  type NewJournalRow,
} from './store.ts'

export type SqliteJournalsOptions = {
  /** How many rows each journal may hold. */
  readonly rowsMax: number
  /** How long a row is kept, in milliseconds; 0: for ever. */
  readonly lifetimeMs: number
}

/**
 * A table for each journal, so that its oldest rows are those with the lowest ids, which never come back. They are made
 * in a file of before as well. Nothing but the id is indexed: rows are written with every request, and those
 * of a conversation are looked for when it is deleted.
 */
export const journalTables = journalNames.map(tableOf).join('')

/** The journals of a store in a file. */
export function sqliteJournals(database: DatabaseSync, options: SqliteJournalsOptions): Journals {
  const journals = perJournal((journal) => sqliteJournal(database, journal, options))

  async function inEach(deleteIn: (journal: SqliteJournal) => Promise<number>): Promise<number> {
    let total = 0
    for (const name of journalNames) total += await deleteIn(journals[name])
    return total
  }

  return {
    appendRows: async (journal, rows) => {
      if (rows.length > 0) transaction(database, () => journals[journal].append(rows))
    },
    readRows: (journal, page) => readInPages(page, stepRows, async (each) => journals[journal].read(each)),
    deleteGroup: (group) => inEach((journal) => journal.deleteGroup(group)),
    purge: async () => {
      await inEach((journal) => inSteps(journal.deleteSomeExpired))
      return inEach((journal) => inSteps(journal.deleteSome))
    },
  }
}

// --- internal ---

/** What a write deletes beside as many rows as it adds: those beyond a bound that was lowered, or that ended long ago. */
const SWEEP_ROWS = 16

type SqliteJournal = ReturnType<typeof sqliteJournal>

function sqliteJournal(
  database: DatabaseSync,
  journal: JournalName,
  { rowsMax, lifetimeMs }: SqliteJournalsOptions,
) {
  const statements = prepareStatements(database, journal)

  /** Whether a row with this number, or a later one, was ever written. */
  function wasReached(number: number): boolean {
    return number <= Number(statements.lastNumber.get(nameOf(journal))?.['seq'] ?? 0)
  }

  function rowsAfter(number: number, limit: number): ReturnType<StatementSync['all']> {
    const found = statements.after.all(number, Date.now(), limit)
    return found.length > 0 || number === 0 || wasReached(number) ? found : rowsAfter(0, limit)
  }

  return {
    /** Within a transaction. */
    append(added: readonly NewJournalRow[]): void {
      const nowMs = Date.now()
      const expiresMs = lifetimeMs === 0 ? null : nowMs + lifetimeMs
      const kept = added.slice(-rowsMax)
      for (const { text, group } of kept) {
        statements.insert.run(expiresMs, group ?? null, Buffer.from(text, 'utf8'))
      }
      statements.deleteOldest.run(kept.length + SWEEP_ROWS, rowsMax, nowMs)
    },
    read({ from, beyond, limit }: JournalPage): readonly JournalRow[] {
      const number = rowNumber(beyond)
      const found =
        from === 'oldest'
          ? rowsAfter(number ?? 0, limit)
          : statements.before.all(number ?? Number.MAX_SAFE_INTEGER, Date.now(), limit)
      return found.map(({ id, text }) => ({ id: String(id), text: textOf(text) ?? '' }))
    },
    deleteGroup: (group: string) =>
      throughSteps(
        (from) => Number(statements.stepEnd.get(from)?.['id'] ?? 0),
        (from, to) => Number(statements.deleteGroup.run(from, to, group, Date.now()).changes),
      ),
    deleteSomeExpired: () => Number(statements.deleteExpired.run(Date.now()).changes),
    deleteSome: () => Number(statements.deleteSome.run().changes),
  }
}

function prepareStatements(database: DatabaseSync, journal: JournalName) {
  const table = nameOf(journal)
  const standing = '(expires_ms IS NULL OR expires_ms > ?)'
  return {
    insert: database.prepare(`INSERT INTO ${table} (expires_ms, conversation, text) VALUES (?, ?, ?)`),
    // Only the first rows are looked at. What has ended is mostly there, and is never read wherever it is.
    deleteOldest: database.prepare(
      `DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table} ORDER BY id LIMIT ?) ` +
        `AND (id <= (SELECT max(id) FROM ${table}) - ? OR expires_ms <= ?)`,
    ),
    after: database.prepare(`SELECT id, text FROM ${table} WHERE id > ? AND ${standing} ORDER BY id LIMIT ?`),
    before: database.prepare(
      `SELECT id, text FROM ${table} WHERE id < ? AND ${standing} ORDER BY id DESC LIMIT ?`,
    ),
    lastNumber: database.prepare('SELECT seq FROM sqlite_sequence WHERE name = ?'),
    stepEnd: database.prepare(stepEnd(table)),
    deleteGroup: database.prepare(
      `DELETE FROM ${table} WHERE id > ? AND id <= ? AND conversation = ? AND ${standing}`,
    ),
    deleteExpired: database.prepare(
      `DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table} WHERE expires_ms <= ? LIMIT ${stepRows})`,
    ),
    deleteSome: database.prepare(
      `DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table} LIMIT ${stepRows})`,
    ),
  }
}

function tableOf(journal: JournalName): string {
  const table = nameOf(journal)
  return `
  CREATE TABLE IF NOT EXISTS ${table} (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    expires_ms INTEGER,
    conversation TEXT,
    text BLOB NOT NULL
  ) STRICT;
`
}

function nameOf(journal: JournalName): string {
  return `journal_${journal}`
}
