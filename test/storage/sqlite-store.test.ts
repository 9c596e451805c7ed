import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { openSqliteStore } from '../../src/storage/sqlite-store.ts'
import { StoreError } from '../../src/storage/store-error.ts'
import { journalNames, type Store } from '../../src/storage/store.ts'
import { temporaryFolder } from '../config/temporary-folder.ts'
import { sharedJournalContract } from '../contracts/journal-contract.ts'
import { storeContract } from '../contracts/store-contract.ts'
import { putValue } from '../support/put-value.ts'

storeContract('the SQLite store', async (limits) => openSqliteStore({ path: await newPath(), ...limits }))

const MEGABYTE = 1024 * 1024

const isWindows = process.platform === 'win32'

async function openAt(path: string, bytesMax = 64 * MEGABYTE): Promise<Store> {
  const store = await openSqliteStore({ path, bytesMax, lifetimeMs: 0 })
  onTestFinished(store.close)
  return store
}

const newPath = async () => join(await temporaryFolder(), 'store.sqlite')

/** Looks into the file beside the store. */
function readerOf(path: string): DatabaseSync {
  const reader = new DatabaseSync(path, { readOnly: true })
  onTestFinished(() => reader.close())
  return reader
}

/** Changes the file as another program does. */
function alter(path: string, statements: string): void {
  const other = new DatabaseSync(path)
  other.exec(statements)
  other.close()
}

/** Whether a file in the folder holds this text. */
const holds = async (folder: string, text: string): Promise<boolean> => {
  const files = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name))))
  return files.some((bytes) => bytes.includes(text))
}

/** What a refused opening says. */
async function refusal(path: string): Promise<string> {
  const error = await openAt(path).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(StoreError)
  return error instanceof StoreError ? error.message : ''
}

describe('the file', () => {
  test.skipIf(isWindows)('and its companions are for nobody else, whatever the umask', async () => {
    const folder = join(await temporaryFolder(), 'state', 'foldgate')
    const umask = process.umask(0)
    onTestFinished(() => void process.umask(umask))
    const store = await openAt(join(folder, 'store.sqlite'))
    await putValue(store, 'key', 'value')
    const names = await readdir(folder)
    expect(names.sort()).toEqual(['store.sqlite', 'store.sqlite-shm', 'store.sqlite-wal'])
    for (const name of names) expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600)
    expect((await stat(folder)).mode & 0o777).toBe(0o700)
  })

  test.skipIf(isWindows)('that was made beforehand, empty and open to all, is closed to others', async () => {
    const folder = await temporaryFolder({ 'store.sqlite': '' })
    const path = join(folder, 'store.sqlite')
    await chmod(path, 0o666)
    await putValue(await openAt(path), 'key', 'value')
    expect((await stat(path)).mode & 0o777).toBe(0o600)
  })

  test('keeps what was written when it is closed and opened again', async () => {
    const path = await newPath()
    const first = await openAt(path)
    await putValue(first, 'key', 'value', 'group')
    await first.lease('lease', 'mine', 60_000)
    await first.close()
    const second = await openAt(path)
    expect(await second.getFirst(['key'])).toEqual({ index: 0, value: 'value' })
    expect(await second.lease('lease', 'theirs', 60_000)).toBe(false)
    expect(await second.deleteGroup('group')).toBe(1)
  })

  test('of before there were journals gets them when it is opened, and keeps what it has', async () => {
    const path = await newPath()
    const before = await openAt(path)
    await putValue(before, 'key', 'value')
    await before.close()
    alter(path, journalNames.map((journal) => `DROP TABLE journal_${journal};`).join(''))
    const store = await openAt(path)
    await store.appendRows('events', [{ text: 'row' }])
    expect(await store.readRows('events', { from: 'oldest', beyond: null, limit: 2 })).toHaveLength(1)
    expect(await store.getFirst(['key'])).toEqual({ index: 0, value: 'value' })
    // One that does not know journals opens it still.
    expect(readerOf(path).prepare('PRAGMA user_version').get()).toEqual({ user_version: 2 })
  })

  test('has a few characters for a key, however long that is, and the same ending side by side', async () => {
    const path = await newPath()
    const store = await openAt(path)
    const ends = Array.from({ length: 50 }, (_, end) => `end ${end + 100}`)
    await store.put(
      ends.flatMap((end) => [
        { key: `seen:${'x'.repeat(300)}:${end}`, value: 'seen' },
        { key: `name:${end}`, value: 'name' },
      ]),
    )
    const rows = readerOf(path)
      .prepare('SELECT short_key AS key, value FROM entries ORDER BY short_key')
      .all()
    expect(rows).toHaveLength(100)
    for (const [index, { key }] of rows.entries()) {
      expect(String(key)).toMatch(/^.{26}$/)
      expect(String(key).slice(0, 4)).toBe(String(rows[index - (index % 2)]?.['key']).slice(0, 4))
    }
  })

  test('finds keys that end in halves of a pair, one or several at once', async () => {
    const store = await openAt(await newPath())
    const keys = ['😀😀😀', 'a😀😀b', 'a😀b😀c', '😀', 'abc']
    await store.put(keys.map((key) => ({ key, value: key })))
    for (const key of keys) {
      expect(await store.getFirst([key])).toEqual({ index: 0, value: key })
      expect(await store.getFirst(['none', key])).toEqual({ index: 1, value: key })
    }
  })

  test('stays within its size on disk, the log included', async () => {
    const folder = await temporaryFolder()
    const store = await openAt(join(folder, 'store.sqlite'), 4 * MEGABYTE)
    for (let value = 0; value < 600; value += 1)
      await putValue(store, `key ${value}`, 'x'.repeat((value % 7) * 3_000), `group ${value % 9}`)
    let bytes = 0
    for (const name of await readdir(folder)) bytes += (await stat(join(folder, name))).size
    // The log takes 4 MB, and a little for what one write adds before it is carried over.
    expect(bytes).toBeLessThan(9 * MEGABYTE)
    expect(await store.getFirst(['key 599'])).not.toBeNull()
    expect(await store.getFirst(['key 0'])).toBeNull()
  })

  // docs/privacy.md: a record is kept for `store.ttl_days` and then deleted with later writes.
  test('loses what has outlived its time, leases too, with the next write', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const path = await newPath()
    const store = await openSqliteStore({ path, bytesMax: MEGABYTE, lifetimeMs: 20_000 })
    onTestFinished(store.close)
    for (let value = 0; value < 5; value += 1) await putValue(store, `old ${value}`, 'value', 'group')
    for (let row = 0; row < 5; row += 1) await store.appendRows('events', [{ text: 'old' }])
    await store.lease('old', 'holder', 20_000)
    vi.setSystemTime(Date.now() + 20_001)
    await putValue(store, 'new', 'value')
    await store.appendRows('events', [{ text: 'new' }])
    const reader = readerOf(path)
    expect(reader.prepare('SELECT id FROM entries').all()).toHaveLength(1)
    expect(await store.getFirst(['new'])).not.toBeNull()
    expect(reader.prepare('SELECT key FROM leases').all()).toEqual([])
    expect(reader.prepare('SELECT id FROM journal_events').all()).toEqual([{ id: 6 }])
  })

  // The oldest row alone was asked whether it was over: one that is kept for ever hid all those behind it.
  test('loses rows that have outlived their time behind one that has not', async () => {
    const path = await newPath()
    const before = await openSqliteStore({ path, bytesMax: MEGABYTE, lifetimeMs: 0 })
    await before.appendRows('events', [{ text: 'kept' }])
    await before.close()
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const store = await openSqliteStore({ path, bytesMax: MEGABYTE, lifetimeMs: 20_000 })
    onTestFinished(store.close)
    for (let row = 0; row < 5; row += 1) await store.appendRows('events', [{ text: 'old' }])
    vi.setSystemTime(Date.now() + 20_001)
    await store.appendRows('events', [{ text: 'new' }])
    const ids = readerOf(path).prepare('SELECT id FROM journal_events').all()
    expect(ids).toEqual([{ id: 1 }, { id: 7 }])
  })

  // A writer died while the clock was a day ahead. Until that day was over nobody else could write its summary.
  test('holds nobody up by a lease that was granted before the clock went back', async () => {
    const path = await newPath()
    const store = await openAt(path)
    await store.lease('summary', 'dead', 60_000)
    expect(await store.lease('summary', 'other', 60_000)).toBe(false)
    alter(path, 'UPDATE leases SET expires_ms = expires_ms + 86400000')
    expect(await store.lease('summary', 'other', 60_000)).toBe(true)
    expect(await store.lease('summary', 'third', 60_000)).toBe(false)
  })

  test('gives its room back when it is emptied, and keeps no trace of what was deleted', async () => {
    const folder = await temporaryFolder()
    const path = join(folder, 'store.sqlite')
    const store = await openAt(path)
    for (let value = 0; value < 200; value += 1) {
      const group = value === 7 ? 'SECRETIVE' : 'other'
      await putValue(store, `key ${value}`, `PLANTED ${'x'.repeat(20_000)}`, group)
      await store.appendRows('usage', [{ text: `PLANTED ${value}` }])
    }
    await putValue(store, 'alone', 'FORGOTTEN text', 'alone')
    await store.appendRows('events', [{ text: 'FORGOTTEN row', group: 'alone' }])
    await store.deleteGroup('alone')
    expect(await holds(folder, 'FORGOTTEN')).toBe(false)
    expect(await store.purge()).toBe(400)
    expect((await stat(path)).size).toBeLessThan(100_000)
    expect(await holds(folder, 'PLANTED')).toBe(false)
  })
})

describe('a file that is not ours', () => {
  test('is refused with its name and what to do, and left as it is', async () => {
    const folder = await temporaryFolder({ 'notes.txt': 'These are my notes, and I want to keep them.\n' })
    const path = join(folder, 'notes.txt')
    expect(await refusal(path)).toMatch(/notes\.txt is no database: .*--store sqlite:PATH/)
    expect(await readFile(path, 'utf8')).toBe('These are my notes, and I want to keep them.\n')
    expect(await readdir(folder)).toEqual(['notes.txt'])
  })

  test('nor is the database of another program touched, nor one that a newer Foldgate has written', async () => {
    const path = join(await temporaryFolder(), 'theirs.sqlite')
    alter(path, 'CREATE TABLE entries (id INTEGER PRIMARY KEY, note TEXT)')
    const before = await readFile(path)
    expect(await refusal(path)).toMatch(/theirs\.sqlite is a database of another program/)
    expect(before.equals(await readFile(path))).toBe(true)
    const ours = await newPath()
    await (await openAt(ours)).close()
    alter(ours, 'PRAGMA user_version = 9')
    expect(await refusal(ours)).toMatch(/newer Foldgate \(schema 9; this one knows 2\)/)
  })

  test('one of a build before the first release is emptied of its values, also where several open it at once', async () => {
    const path = await newPath()
    alter(
      path,
      `CREATE TABLE entries (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, value BLOB NOT NULL) STRICT;
      CREATE TABLE leases (key TEXT PRIMARY KEY, holder TEXT NOT NULL) STRICT;
      INSERT INTO entries (key, value) VALUES ('key', x'61');
      PRAGMA application_id = 0x466f6c64;
      PRAGMA user_version = 1;`,
    )
    const stores = await Promise.all([openAt(path), openAt(path), openAt(path)])
    const [store] = stores
    expect(await store?.getFirst(['key'])).toBeNull()
    expect(await store?.putIfAbsent('key', 'value', 'group')).toBe('value')
    for (const each of stores) expect((await each.getFirst(['key']))?.value).toBe('value')
  })

  test('a damaged one is told at the start, or fails what reads it, and is never deleted', async () => {
    const path = await newPath()
    const store = await openAt(path)
    for (let value = 0; value < 100; value += 1) await putValue(store, `key ${value}`, 'x'.repeat(2_000))
    await store.close()
    const bytes = await readFile(path)
    await writeFile(path, bytes.fill(0x5a, 100))
    expect(await refusal(path)).toMatch(/store\.sqlite (?:is damaged|is no database): move it away/)
    expect((await stat(path)).size).toBe(bytes.length)
  })

  test.each(['', 'a file/', 'folder'])('nor a place where none can be: %j', async (place) => {
    const folder = await temporaryFolder({ 'a file': 'x', 'folder/x': '' })
    const path = place === '' ? folder : join(folder, place, place === 'folder' ? '' : 'store.sqlite')
    expect(await refusal(path)).toMatch(/cannot be written \(E\w+\): make it writable/)
  })
})

describe('several processes on one file', () => {
  sharedJournalContract('two', async () => {
    const path = await newPath()
    return { one: await openAt(path), other: await openAt(path) }
  })

  test('one that holds the file for long costs an operation, and the next one works', async () => {
    const path = await newPath()
    const store = await openAt(path)
    await putValue(store, 'key', 'value')
    const other = new DatabaseSync(path)
    other.exec('BEGIN IMMEDIATE')
    await expect(putValue(store, 'key', 'late')).rejects.toThrow(/locked/)
    expect((await store.getFirst(['key']))?.value).toBe('value')
    other.exec('COMMIT')
    other.close()
    await putValue(store, 'key', 'new')
    expect((await store.getFirst(['key']))?.value).toBe('new')
  })
})
