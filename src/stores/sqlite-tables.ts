import type { DatabaseSync } from 'node:sqlite'
import { sqliteKey } from './sqlite-key.ts'
import { journalTables } from './sqlite-journals.ts'
import { journalNames } from './store.ts'

/** Raised whenever the tables change; not for new ones that an older Foldgate may leave alone. */
export const schemaVersion = 2

/** Within a transaction: gives a file of this version, 0 for an empty one, the tables of today. What it holds stays. */
export function bringUpToDate(database: DatabaseSync, version: number): void {
  if (version === 0) database.exec(entriesTable + entriesIndexes + leasesTable)
  if (version === 1) moveEntries(database)
  database.exec(journalTables)
  if (version !== schemaVersion) database.exec(`PRAGMA user_version = ${schemaVersion}`)
}

// --- internal ---

/**
 * Ids grow with every write, so that the lowest is the one that was written longest ago. An index whose order is that of
 * chance costs every write a page of its own, which is why there is one only: who deletes a conversation goes through
 * the table. The value stands last, so that one of megabytes is not read on the way. A Foldgate of before that still runs
 * asks for the column `key`, and fails rather than write what nobody finds.
 */
const entriesTable = `
  CREATE TABLE entries (
    id INTEGER PRIMARY KEY,
    short_key TEXT NOT NULL,
    conversation TEXT,
    expires_ms INTEGER,
    value BLOB NOT NULL
  ) STRICT;
`

const entriesIndexes = `
  CREATE UNIQUE INDEX entries_short_key ON entries (short_key);
  CREATE INDEX entries_expires_ms ON entries (expires_ms) WHERE expires_ms IS NOT NULL;
`

const leasesTable = `
  CREATE TABLE leases (
    key TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    expires_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
`

/** Entries that move at a time: the pages that they leave are used again by the next. */
const MOVED_ROWS = 10

/** From the first version, which kept keys as they are and had indexes of conversations. */
function moveEntries(database: DatabaseSync): void {
  for (const index of ['entries_conversation', 'entries_expires_ms']) database.exec(`DROP INDEX ${index}`)
  for (const journal of journalNames) database.exec(`DROP INDEX IF EXISTS journal_${journal}_conversation`)
  database.exec(`ALTER TABLE entries RENAME TO entries_before; ${entriesTable}`)
  database.function('foldgate_key', { deterministic: true }, (key) => sqliteKey(String(key)))
  const lastOfSome = database.prepare(
    `SELECT max(id) AS id FROM (SELECT id FROM entries_before ORDER BY id LIMIT ${MOVED_ROWS})`,
  )
  const move = database.prepare(
    'INSERT INTO entries (id, short_key, conversation, expires_ms, value) ' +
      'SELECT id, foldgate_key(key), conversation, expires_ms, value FROM entries_before WHERE id <= ?',
  )
  const leave = database.prepare('DELETE FROM entries_before WHERE id <= ?')
  for (;;) {
    const last = lastOfSome.get()?.['id']
    if (typeof last !== 'number') break
    move.run(last)
    leave.run(last)
  }
  database.exec(`DROP TABLE entries_before; ${entriesIndexes}`)
}
