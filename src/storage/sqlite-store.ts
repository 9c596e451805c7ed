import { setImmediate } from 'node:timers/promises'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { hash } from 'node:crypto'
import {
  journalTable,
  openSqliteFile,
  openSqliteFileToRead,
  textIn,
  transaction,
  unexpired,
} from './sqlite-file.ts'
import { sqliteJournals } from './sqlite-journals.ts'
import { journalNames, type Store, type StoreEntry, type StoreLimits } from './store.ts'

export type SqliteStoreOptions = StoreLimits & {
  readonly path: string
  /** Whether the file has to be there already, and is only read: whatever would write rejects. */
  readonly isReadOnly?: boolean
}

/**
 * A store in one file, which several processes of a machine may share. Node's SQLite is synchronous: every
 * operation is one small transaction, or many small steps.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { path, bytesMax, lifetimeMs, isReadOnly = false } = options
  const database = isReadOnly ? openSqliteFileToRead(path) : await openSqliteFile(path)
  const statements = prepareStatements(database)
  const pageBytes = count(database.prepare('PRAGMA page_size'), 'page_size')
  const expiry = (): number | null => (lifetimeMs === 0 ? null : Date.now() + lifetimeMs)

  function standingValue(key: string): string | null {
    return textIn(statements.find.get(shortKey(key), Date.now())?.['value'])
  }

  /** Within a transaction. A value that is larger than the store is not kept. */
  function write(entries: readonly StoreEntry[]): void {
    statements.sweepEntries.run(Date.now())
    statements.sweepLeases.run(Date.now())
    let first: number | bigint | null = null
    for (const { key, value, group, yields = false } of entries) {
      if (yields && standingValue(key) !== null) continue
      const bytes = Buffer.from(value, 'utf8')
      if (bytes.length > bytesMax) {
        statements.delete.run(shortKey(key))
        continue
      }
      const { lastInsertRowid } = statements.insert.run(shortKey(key), group ?? null, expiry(), bytes)
      first ??= lastInsertRowid
    }
    if (first === null) return
    for (let step = 0; step < TRIM_STEPS_MAX && isOverfull(); step += 1) {
      if (statements.deleteOldest.run(first).changes === 0) break
    }
  }

  /** Whether the file is larger than it may be; freed pages do not count, since they are used again first. */
  function isOverfull(): boolean {
    const pages = count(statements.pages, 'page_count')
    const pagesMax = bytesMax / pageBytes
    return pages > pagesMax && pages - count(statements.freePages, 'freelist_count') > pagesMax
  }

  /** Gives freed pages back to the file system. */
  async function shrink(): Promise<void> {
    for (let before = Infinity; ;) {
      const left = count(statements.freePages, 'freelist_count')
      if (left === 0 || left >= before) return
      before = left
      database.prepare(`PRAGMA incremental_vacuum(${STEP_PAGES})`).all()
      await setImmediate()
    }
  }

  function emptyLog(): void {
    database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all()
  }

  return {
    ...sqliteJournals(database, { bytesMax, lifetimeMs }),
    name: `sqlite:${path}`,
    getFirst: (keys) => {
      // The first few by themselves: mostly one of them has a value, and the rest is not asked for.
      for (const from of [0, FEW_KEYS]) {
        const asked = keys.slice(from, from === 0 ? FEW_KEYS : keys.length).map(shortKey)
        if (asked.length === 0) break
        // A JSON list: one parameter for any number of keys.
        const found = statements.findFirst.get(JSON.stringify(asked), Date.now())
        const value = textIn(found?.['value'])
        if (value !== null) return { index: from + Number(found?.['position']), value }
      }
      return null
    },
    putIfAbsent: async (key, value, group) => {
      // Mostly the key has a value, and then no transaction is needed.
      const standing = standingValue(key)
      if (standing !== null) return standing
      return transaction(database, () => {
        const first = standingValue(key)
        if (first === null) write([{ key, value, ...(group !== undefined && { group }) }])
        return first ?? value
      })
    },
    put: async (entries) => {
      if (entries.length > 0) transaction(database, () => write(entries))
    },
    deleteGroup: async (group) => {
      const condition = `conversation = ? AND ${unexpired}`
      const deleted = await deleteFromAll(database, condition, group, Date.now())
      // Freed pages are overwritten, but the log may still have them as they were.
      if (deleted > 0) emptyLog()
      return deleted
    },
    purge: async () => {
      // What has expired is nothing that was there.
      await deleteFromAll(database, 'expires_ms <= ?', Date.now())
      const deleted = await deleteFromAll(database, 'TRUE')
      database.exec('DELETE FROM leases')
      await shrink()
      emptyLog()
      return deleted
    },
    lease: async (key, holder, leaseMs) => {
      const nowMs = Date.now()
      // A lease that ends later than that was granted before the clock was set back, and must not last so long.
      const untilMsMax = nowMs + 2 * leaseMs
      return statements.lease.run(key, holder, nowMs + leaseMs, nowMs, untilMsMax).changes === 1
    },
    release: async (key, holder) => void statements.release.run(key, holder),
    close: async () => {
      if (database.isOpen) database.close()
    },
  }
}

// --- internal ---

/**
 * The short form of a key in the file: its last characters, then a digest. A page of the index holds many times more of
 * these than of whole keys. A request writes several keys that end alike: they stand side by side in the index, so that
 * one page is touched. At this length no two keys share a digest.
 */
function shortKey(key: string): string {
  // Half of a surrogate pair would be one text as a parameter and another one in a JSON list.
  return (
    key.slice(-KEY_ENDING_CHARS).toWellFormed() + hash('sha256', key, 'base64url').slice(0, KEY_DIGEST_CHARS)
  )
}

/** Enough to bring equal endings together among millions of keys. */
const KEY_ENDING_CHARS = 4

/** Of base64url: 132 bits. */
const KEY_DIGEST_CHARS = 22

const FEW_KEYS = 3

/** Pages that are given back at a time, which takes a few milliseconds. */
const STEP_PAGES = 1_000

/** Expired rows that a write deletes at most. */
const SWEEP_ROWS = 16

/** How many rows a write deletes at a time, and how often, to come back under the size that is allowed. */
const TRIM_ROWS = 8
const TRIM_STEPS_MAX = 64

function prepareStatements(database: DatabaseSync) {
  return {
    find: database.prepare(`SELECT value FROM entries WHERE short_key = ? AND ${unexpired}`),
    // The values of the other keys are not read: each may have megabytes.
    findFirst: database.prepare(
      `WITH first AS (
         SELECT asked.key AS position, entries.id AS id
         FROM json_each(?) AS asked CROSS JOIN entries ON entries.short_key = asked.value
         WHERE entries.expires_ms IS NULL OR entries.expires_ms > ?
         ORDER BY asked.key LIMIT 1
       )
       SELECT first.position AS position, entries.value AS value FROM first JOIN entries USING (id)`,
    ),
    // A value that is replaced is deleted, and the new one gets the highest id.
    insert: database.prepare(
      'INSERT OR REPLACE INTO entries (short_key, conversation, expires_ms, value) VALUES (?, ?, ?, ?)',
    ),
    delete: database.prepare('DELETE FROM entries WHERE short_key = ?'),
    deleteOldest: database.prepare(
      `DELETE FROM entries WHERE id IN (SELECT id FROM entries WHERE id < ? ORDER BY id LIMIT ${TRIM_ROWS})`,
    ),
    sweepEntries: database.prepare(
      'DELETE FROM entries WHERE id IN ' +
        `(SELECT id FROM entries WHERE expires_ms <= ? ORDER BY expires_ms LIMIT ${SWEEP_ROWS})`,
    ),
    sweepLeases: database.prepare('DELETE FROM leases WHERE expires_ms <= ?'),
    lease: database.prepare(
      'INSERT INTO leases (key, holder, expires_ms) VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE ' +
        'SET holder = excluded.holder, expires_ms = excluded.expires_ms ' +
        'WHERE leases.holder = excluded.holder OR leases.expires_ms <= ? OR leases.expires_ms > ?',
    ),
    release: database.prepare('DELETE FROM leases WHERE key = ? AND holder = ?'),
    pages: database.prepare('PRAGMA page_count'),
    freePages: database.prepare('PRAGMA freelist_count'),
  }
}

/** Rows that are looked through at a time, which takes a few milliseconds. */
const STEP_ROWS = 200

/** How long steps are taken one after the other before others are served, in milliseconds. */
const STEPS_MS = 1

/** Deletes the values and rows for which a condition holds. Resolves with how many those were. */
async function deleteFromAll(
  database: DatabaseSync,
  condition: string,
  ...values: readonly (string | number)[]
): Promise<number> {
  let total = 0
  for (const table of ['entries', ...journalNames.map(journalTable)])
    total += await deleteInSteps(database, table, condition, values)
  return total
}

/** Since only the id is indexed it goes through the whole table, in steps between which requests are served. */
async function deleteInSteps(
  database: DatabaseSync,
  table: string,
  condition: string,
  values: readonly (string | number)[],
): Promise<number> {
  const stepEnd = database.prepare(
    `SELECT max(id) AS id FROM (SELECT id FROM ${table} WHERE id > ? ORDER BY id LIMIT ${STEP_ROWS})`,
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

function count(statement: StatementSync, column: string): number {
  return Number(statement.get()?.[column])
}
