import { setImmediate } from 'node:timers/promises'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { journalRowsMax } from './journal-rows-max.ts'
import { inSteps, stepRows, textOf, transaction } from './sqlite-access.ts'
import { openSqliteFile } from './sqlite-file.ts'
import { sqliteJournals } from './sqlite-journals.ts'
import type { Store, StoreEntry } from './store.ts'

export type SqliteStoreOptions = {
  readonly path: string
  /** How large the file may become, in bytes; beyond it what was written longest ago goes. */
  readonly bytesMax: number
  /** How long a value is kept after it was last written, in milliseconds; 0: for ever. */
  readonly lifetimeMs: number
}

/**
 * A store in one file, which several processes of a machine may share. Node's SQLite is synchronous: every
 * operation is one small transaction, and what is large is done in steps.
 */
export async function openSqliteStore({ path, bytesMax, lifetimeMs }: SqliteStoreOptions): Promise<Store> {
  const database = await openSqliteFile(path)
  const statements = prepareStatements(database)
  const journals = sqliteJournals(database, { rowsMax: journalRowsMax(bytesMax), lifetimeMs })
  const expiry = (): number | null => (lifetimeMs === 0 ? null : Date.now() + lifetimeMs)

  function standingValue(key: string): string | null {
    return textOf(statements.find.get(JSON.stringify([key]), Date.now())?.['value'])
  }

  /** Within a transaction. A value that is larger than the store is not kept. */
  function write(entries: readonly StoreEntry[]): void {
    statements.sweepEntries.run(Date.now())
    statements.sweepLeases.run(Date.now())
    let first: number | bigint | null = null
    for (const { key, value, group } of entries) {
      const bytes = Buffer.from(value, 'utf8')
      if (bytes.length > bytesMax) {
        statements.delete.run(key)
        continue
      }
      const { lastInsertRowid } = statements.insert.run(key, bytes, group ?? null, expiry())
      first ??= lastInsertRowid
    }
    if (first === null) return
    for (let step = 0; step < TRIM_STEPS_MAX && usedBytes(statements) > bytesMax; step += 1) {
      if (statements.deleteOldest.run(first).changes === 0) break
    }
  }

  /** Gives freed pages back to the file system. */
  async function shrink(): Promise<void> {
    for (let before = Infinity; ;) {
      const left = count(statements.freePages, 'freelist_count')
      if (left === 0 || left >= before) return
      before = left
      statements.shrink.all()
      await setImmediate()
    }
  }

  return {
    name: `sqlite:${path}`,
    getFirst: async (keys) => {
      if (keys.length === 0) return null
      const found = statements.find.get(JSON.stringify(keys), Date.now())
      const value = textOf(found?.['value'])
      return value === null ? null : { index: Number(found?.['position']), value }
    },
    putIfAbsent: async (key, value, group) => {
      // Mostly it stands, and then nobody has to be kept from writing.
      const standing = standingValue(key)
      if (standing !== null) return standing
      return transaction(database, () => {
        const first = standingValue(key)
        if (first === null) write([entryOf(key, value, group)])
        return first ?? value
      })
    },
    put: async (key, value, group) => transaction(database, () => write([entryOf(key, value, group)])),
    putAll: async (entries) => {
      if (entries.length > 0) transaction(database, () => write(entries))
    },
    delete: async (keys) => {
      if (keys.length > 0) statements.deleteAll.run(JSON.stringify(keys))
    },
    appendRows: journals.appendRows,
    readRows: journals.readRows,
    deleteGroup: async (group) => {
      const values = await inSteps(() => Number(statements.deleteGroup.run(group, Date.now()).changes))
      const deleted = values + (await journals.deleteGroup(group))
      // Freed pages are overwritten and used again, but the log may still have them as they were.
      if (deleted > 0) statements.emptyLog.all()
      return deleted
    },
    purge: async () => {
      await inSteps(() => Number(statements.sweepEntries.run(Date.now()).changes))
      const values = await inSteps(() => Number(statements.deleteSome.run().changes))
      const rows = await journals.purge()
      statements.deleteLeases.run()
      await shrink()
      statements.emptyLog.all()
      return values + rows
    },
    lease: async (key, holder, leaseMs) => {
      const nowMs = Date.now()
      return statements.lease.run(key, holder, nowMs + leaseMs, nowMs).changes === 1
    },
    release: async (key, holder) => void statements.release.run(key, holder),
    close: async () => {
      if (database.isOpen) database.close()
    },
  }
}

// --- internal ---

function entryOf(key: string, value: string, group: string | undefined): StoreEntry {
  return group === undefined ? { key, value } : { key, value, group }
}

/** Pages that one step of something larger takes: a step is to stay within a few milliseconds. */
const STEP_PAGES = 1_000

/** What has outlived its time is deleted with later writes, so many rows at a time. */
const SWEEP_ROWS = 16

/** How many rows a write deletes at a time, and how often, to come back under the size that is allowed. */
const TRIM_ROWS = 8
const TRIM_STEPS_MAX = 64

function prepareStatements(database: DatabaseSync) {
  return {
    // The values of the others are not read: each may have megabytes.
    find: database.prepare(
      `WITH first AS (
         SELECT asked.key AS position, entries.id AS id
         FROM json_each(?) AS asked CROSS JOIN entries ON entries.key = asked.value
         WHERE entries.expires_ms IS NULL OR entries.expires_ms > ?
         ORDER BY asked.key LIMIT 1
       )
       SELECT first.position AS position, entries.value AS value FROM first JOIN entries USING (id)`,
    ),
    insert: database.prepare(
      'INSERT INTO entries (id, key, value, conversation, expires_ms) ' +
        'VALUES ((SELECT coalesce(max(id), 0) + 1 FROM entries), ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE ' +
        'SET id = excluded.id, value = excluded.value, conversation = excluded.conversation, expires_ms = excluded.expires_ms',
    ),
    delete: database.prepare('DELETE FROM entries WHERE key = ?'),
    deleteAll: database.prepare('DELETE FROM entries WHERE key IN (SELECT value FROM json_each(?))'),
    deleteGroup: database.prepare(
      'DELETE FROM entries WHERE id IN (SELECT id FROM entries WHERE conversation = ? ' +
        `AND (expires_ms IS NULL OR expires_ms > ?) LIMIT ${stepRows})`,
    ),
    deleteSome: database.prepare(
      `DELETE FROM entries WHERE id IN (SELECT id FROM entries LIMIT ${stepRows})`,
    ),
    deleteOldest: database.prepare(
      `DELETE FROM entries WHERE id IN (SELECT id FROM entries WHERE id < ? ORDER BY id LIMIT ${TRIM_ROWS})`,
    ),
    sweepEntries: database.prepare(
      'DELETE FROM entries WHERE id IN ' +
        `(SELECT id FROM entries WHERE expires_ms <= ? ORDER BY expires_ms LIMIT ${SWEEP_ROWS})`,
    ),
    sweepLeases: database.prepare('DELETE FROM leases WHERE expires_ms <= ?'),
    deleteLeases: database.prepare('DELETE FROM leases'),
    lease: database.prepare(
      'INSERT INTO leases (key, holder, expires_ms) VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE ' +
        'SET holder = excluded.holder, expires_ms = excluded.expires_ms ' +
        'WHERE leases.holder = excluded.holder OR leases.expires_ms <= ?',
    ),
    release: database.prepare('DELETE FROM leases WHERE key = ? AND holder = ?'),
    pageBytes: database.prepare('PRAGMA page_size'),
    pages: database.prepare('PRAGMA page_count'),
    freePages: database.prepare('PRAGMA freelist_count'),
    shrink: database.prepare(`PRAGMA incremental_vacuum(${STEP_PAGES})`),
    emptyLog: database.prepare('PRAGMA wal_checkpoint(TRUNCATE)'),
  }
}

type Statements = ReturnType<typeof prepareStatements>

/** What the file holds, with everything that goes with it; pages that were freed are used again first. */
function usedBytes(statements: Statements): number {
  const pages = count(statements.pages, 'page_count') - count(statements.freePages, 'freelist_count')
  return pages * count(statements.pageBytes, 'page_size')
}

function count(statement: StatementSync, column: string): number {
  return Number(statement.get()?.[column])
}
