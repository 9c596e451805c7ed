import { existsSync } from 'node:fs'
import { chmod, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { type JournalName, journalNames } from './store.ts'
import { StoreError, troubleOf } from './store-error.ts'
import { makeFolder } from './state-folder.ts'

/**
 * Opens the file, or creates it, and checks that it is one of ours. A file of another program or of a newer Foldgate is
 * never changed. Rejects with a `StoreError`.
 */
export async function openSqliteFile(path: string): Promise<DatabaseSync> {
  try {
    await createPrivate(path)
  } catch (error) {
    throw new StoreError(`the file ${path} cannot be written (${troubleOf(error)}): ${ELSEWHERE}`, {
      cause: error,
    })
  }
  // A process that turns a new file into a database locks all of it for a moment.
  for (let attempt = 1; ; attempt += 1) {
    let database: DatabaseSync | null = null
    try {
      database = new DatabaseSync(path, { timeout: BUSY_MS })
      prepareFile(database, path)
      return database
    } catch (error) {
      if (database?.isOpen === true) database.close()
      if (error instanceof StoreError) throw error
      if (primaryCode(error) !== SQLITE_BUSY || attempt === ATTEMPTS_MAX) throw explained(error, path)
      await setTimeout(ATTEMPT_GAP_MS)
    }
  }
}

/** Opens a file that is there already, for reading alone. Nothing of it is created or changed. Throws a `StoreError`. */
export function openSqliteFileToRead(path: string): DatabaseSync {
  let database: DatabaseSync | null = null
  try {
    database = new DatabaseSync(readingUrl(path), { timeout: BUSY_MS, readOnly: true })
    refuseForeign(database, path)
    if (pragma(database, 'user_version') === SCHEMA_VERSION) return database
    throw new StoreError(`${path} holds nothing that this Foldgate can read`)
  } catch (error) {
    if (database?.isOpen === true) database.close()
    throw error instanceof StoreError ? error : explained(error, path)
  }
}

/** The table of a journal. */
export function journalTable(journal: JournalName): string {
  return `journal_${journal}`
}

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

/** The condition of rows that have not expired at the time that is its one parameter. */
export const unexpired = '(expires_ms IS NULL OR expires_ms > ?)'

/** The text of a column that holds its UTF-8 bytes: SQLite's own texts must not hold a NUL. */
export function textIn(value: unknown): string | null {
  if (!(value instanceof Uint8Array)) return null
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('utf8')
}

// --- internal ---

/** Raised whenever the tables change; not for new ones that an older Foldgate may leave alone. */
const SCHEMA_VERSION = 2

/**
 * Ids grow with every write, so that the lowest is the one that was written longest ago. An index in random order costs every
 * write a page of its own, which is why there is only one: to delete a conversation the whole table is gone through. The
 * value is the last column, so that one of megabytes is not read on the way.
 */
const tables = `
  CREATE TABLE entries (
    id INTEGER PRIMARY KEY,
    short_key TEXT NOT NULL,
    conversation TEXT,
    expires_ms INTEGER,
    value BLOB NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX entries_short_key ON entries (short_key);
  CREATE INDEX entries_expires_ms ON entries (expires_ms) WHERE expires_ms IS NOT NULL;
  CREATE TABLE leases (
    key TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    expires_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
`

/**
 * A table for each journal. Its oldest rows have the lowest ids, and no id is given twice. Nothing but the id is indexed:
 * rows are written with every request, and those of a conversation are looked for only when it is deleted.
 */
const journalTables = journalNames
  .map(
    (journal) => `
  CREATE TABLE IF NOT EXISTS ${journalTable(journal)} (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    expires_ms INTEGER,
    conversation TEXT,
    text BLOB NOT NULL
  ) STRICT;
`,
  )
  .join('')

/** Marks a file as ours: "Fold". */
const APPLICATION_ID = 0x46_6f_6c_64

/**
 * How long an operation waits for another process, in milliseconds. Nothing else is served meanwhile, and no
 * operation holds the file for longer than a few milliseconds: a file that stays locked for longer fails the operation.
 */
const BUSY_MS = 250

const ATTEMPTS_MAX = 20

const ATTEMPT_GAP_MS = 50

/** The write-ahead log shrinks to this once it has been larger, in bytes. */
const LOG_BYTES_MAX = 4 * 1024 * 1024

const ELSEWHERE = 'make it writable, or name another one by --store sqlite:PATH'

// SQLite's result codes (https://www.sqlite.org/rescode.html).
const SQLITE_BUSY = 5
const SQLITE_CORRUPT = 11
const SQLITE_NOTADB = 26

/**
 * A reader leaves `-wal` and `-shm` behind where nobody else has the file open, unless it is told that nothing changes: there is
 * a log as long as somebody may write. Then it also reads what lies in a folder that it may not write to.
 */
function readingUrl(path: string): URL {
  const url = pathToFileURL(path)
  if (!existsSync(`${path}-wal`)) url.searchParams.set('immutable', '1')
  return url
}

/** SQLite creates `-wal` and `-shm` with the mode of the file, which therefore has to be right before. */
async function createPrivate(path: string): Promise<void> {
  makeFolder(dirname(path))
  const file = await open(path, 'a', 0o600)
  const { mode, size } = await file.stat().finally(() => file.close())
  // A file of another program keeps its mode, and is refused later.
  if (size === 0 && (mode & 0o777) !== 0o600) await chmod(path, 0o600)
}

function prepareFile(database: DatabaseSync, path: string): void {
  refuseForeign(database, path)
  // Has an effect only before the first table and the write-ahead log.
  database.exec('PRAGMA auto_vacuum = INCREMENTAL')
  database.exec('PRAGMA journal_mode = WAL')
  // A crash of the machine may cost the latest writes, never the file; a crash of Foldgate costs nothing.
  database.exec('PRAGMA synchronous = NORMAL')
  database.exec(`PRAGMA journal_size_limit = ${LOG_BYTES_MAX}`)
  // Deleted values are overwritten, since they were parts of conversations.
  database.exec('PRAGMA secure_delete = ON')
  transaction(database, () => {
    refuseForeign(database, path)
    if (isEmpty(database)) database.exec(`PRAGMA application_id = ${APPLICATION_ID}`)
    const version = pragma(database, 'user_version')
    // Builds before the first release had other tables: what they hold costs a prompt-cache miss for each conversation.
    if (version === 1) database.exec('DROP TABLE entries; DROP TABLE leases')
    if (version < SCHEMA_VERSION) database.exec(`${tables}PRAGMA user_version = ${SCHEMA_VERSION}`)
    database.exec(journalTables)
  })
}

function refuseForeign(database: DatabaseSync, path: string): void {
  if (isEmpty(database)) return
  if (pragma(database, 'application_id') !== APPLICATION_ID) {
    throw new StoreError(`${path} is a database of another program: name another file by --store sqlite:PATH`)
  }
  const version = pragma(database, 'user_version')
  if (version > SCHEMA_VERSION) {
    throw new StoreError(
      `${path} was written by a newer Foldgate (schema ${version}; this one knows ${SCHEMA_VERSION}): ` +
        'run the newer one, or name another file by --store sqlite:PATH',
    )
  }
}

function isEmpty(database: DatabaseSync): boolean {
  return database.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined
}

function pragma(database: DatabaseSync, name: string): number {
  return Number(database.prepare(`PRAGMA ${name}`).get()?.[name])
}

const OTHER_FILE = 'name another file by --store sqlite:PATH'

const faults: Readonly<Record<number, string>> = {
  [SQLITE_NOTADB]: `is no database: move it away if it is not wanted, or ${OTHER_FILE}`,
  [SQLITE_CORRUPT]: `is damaged: move it away (it costs cache misses, no more), or ${OTHER_FILE}`,
  [SQLITE_BUSY]: `is held by another program: end that one, or ${OTHER_FILE}`,
}

function explained(error: unknown, path: string): StoreError {
  const fault = faults[primaryCode(error)] ?? `cannot be opened (${troubleOf(error)}): ${ELSEWHERE}`
  return new StoreError(`${path} ${fault}`, { cause: error })
}

/** SQLite's result code without the details in its upper bits; 0 for other errors. */
function primaryCode(error: unknown): number {
  const isOfSqlite = error instanceof Error && 'errcode' in error && typeof error.errcode === 'number'
  return isOfSqlite ? Number(error.errcode) & 0xff : 0
}
