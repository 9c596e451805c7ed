import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openSqliteStore } from '../../src/stores/sqlite-store.ts'
import { journalNames, type Store } from '../../src/stores/store.ts'
import { temporaryFolder } from '../config/temporary-folder.ts'

const MEGABYTE = 1024 * 1024

type OldEntry = {
  readonly key: string
  readonly value: string
  readonly group?: string
  readonly expiresMs?: number
}

/** A file as the first version of the tables was, with journals or as it was before there were any. */
async function fileOfBefore(
  entries: readonly OldEntry[],
  { hasJournals = true }: { readonly hasJournals?: boolean } = {},
): Promise<string> {
  const path = join(await temporaryFolder(), 'store.sqlite')
  const old = new DatabaseSync(path)
  old.exec(`
    PRAGMA auto_vacuum = INCREMENTAL;
    PRAGMA journal_mode = WAL;
    CREATE TABLE entries (
      id INTEGER PRIMARY KEY,
      key TEXT NOT NULL UNIQUE,
      value BLOB NOT NULL,
      conversation TEXT,
      expires_ms INTEGER
    ) STRICT;
    CREATE INDEX entries_conversation ON entries (conversation) WHERE conversation IS NOT NULL;
    CREATE INDEX entries_expires_ms ON entries (expires_ms) WHERE expires_ms IS NOT NULL;
    CREATE TABLE leases (
      key TEXT PRIMARY KEY,
      holder TEXT NOT NULL,
      expires_ms INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    PRAGMA application_id = 0x466f6c64;
    PRAGMA user_version = 1;
  `)
  for (const journal of hasJournals ? journalNames : []) {
    old.exec(`
      CREATE TABLE journal_${journal} (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        expires_ms INTEGER,
        conversation TEXT,
        text BLOB NOT NULL
      ) STRICT;
      CREATE INDEX journal_${journal}_conversation ON journal_${journal} (conversation) WHERE conversation IS NOT NULL;
      INSERT INTO journal_${journal} (conversation, text) VALUES ('one', CAST('row of ${journal}' AS BLOB));
    `)
  }
  const insert = old.prepare('INSERT INTO entries (key, value, conversation, expires_ms) VALUES (?, ?, ?, ?)')
  old.exec('BEGIN')
  for (const { key, value, group, expiresMs } of entries) {
    insert.run(key, Buffer.from(value), group ?? null, expiresMs ?? null)
  }
  old.exec(`INSERT INTO leases VALUES ('lease', 'mine', ${Date.now() + 60_000}); COMMIT`)
  old.close()
  return path
}

async function openAt(path: string, bytesMax = 64 * MEGABYTE): Promise<Store> {
  const store = await openSqliteStore({ path, bytesMax, lifetimeMs: 0 })
  onTestFinished(store.close)
  return store
}

describe('a file with the tables of before', () => {
  test.each([true, false])(
    'keeps values, groups, ends, rows and leases (journals: %s)',
    async (hasJournals) => {
      const path = await fileOfBefore(
        [
          { key: 'a', value: 'nul \u0000 in it', group: 'one' },
          { key: 'é 你好', value: 'b', group: 'two' },
          { key: 'ended', value: 'c', expiresMs: 1 },
          { key: 'lasting', value: 'd', expiresMs: Date.now() + 60_000 },
        ],
        { hasJournals },
      )
      const store = await openAt(path)
      expect(await store.getFirst(['a'])).toEqual({ index: 0, value: 'nul \u0000 in it' })
      expect(await store.getFirst(['none', 'é 你好'])).toEqual({ index: 1, value: 'b' })
      expect(await store.getFirst(['ended'])).toBeNull()
      expect(await store.getFirst(['lasting'])).not.toBeNull()
      expect(await store.lease('lease', 'theirs', 60_000)).toBe(false)
      for (const journal of journalNames) {
        const rows = await store.readRows(journal, { from: 'oldest', beyond: null, limit: 2 })
        expect(rows.map(({ text }) => text)).toEqual(hasJournals ? [`row of ${journal}`] : [])
      }
      expect(await store.putIfAbsent('a', 'late')).toBe('nul \u0000 in it')
      expect(await store.deleteGroup('one')).toBe(hasJournals ? 1 + journalNames.length : 1)
      expect(await store.getFirst(['a'])).toBeNull()
      await store.close()
      expect(await (await openAt(path)).getFirst(['é 你好'])).not.toBeNull()
    },
  )

  test('of thousands of values keeps all of them in their order, takes no second room, and has nothing left over', async () => {
    const keys = Array.from({ length: 2_500 }, (_, index) => `key ${index}`)
    const path = await fileOfBefore(
      keys.map((key) => ({ key, value: `${key} ${'x'.repeat(1_500)}`, group: 'all' })),
    )
    const { size } = await stat(path)
    const store = await openAt(path)
    for (const key of keys) expect((await store.getFirst([key]))?.value.startsWith(`${key} `)).toBe(true)
    await store.close()
    expect((await stat(path)).size).toBeLessThan(1.25 * size)
    const reader = new DatabaseSync(path, { readOnly: true })
    const names = reader
      .prepare(`SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY name`)
      .all()
    const journals = ['events', 'totals', 'usage', 'wishes'].map((name) => `journal_${name}`)
    expect(names.map(({ name }) => name)).toEqual([
      'entries',
      'entries_expires_ms',
      'entries_short_key',
      ...journals,
      'leases',
    ])
    reader.close()
    // The oldest go first, as they did.
    const small = await openAt(path, 3 * MEGABYTE)
    for (let index = 0; index < 20; index += 1) await small.put(`new ${index}`, 'x'.repeat(2_000))
    expect(await small.getFirst(['key 0'])).toBeNull()
    expect(await small.getFirst(['key 2499'])).not.toBeNull()
  })

  test('that several open at once is changed once, and all of them use it', async () => {
    const path = await fileOfBefore([{ key: 'key', value: 'value' }])
    const stores = await Promise.all([openAt(path), openAt(path), openAt(path)])
    for (const store of stores) expect((await store.getFirst(['key']))?.value).toBe('value')
  })

  // A Foldgate of before that runs on while a newer one opens its file has statements that are prepared already.
  test('that one of before goes on to use fails its writes, and never mixes up what is there', async () => {
    const path = await fileOfBefore([{ key: 'key', value: 'value' }])
    const old = new DatabaseSync(path)
    onTestFinished(() => old.close())
    const insert = old.prepare(
      'INSERT INTO entries (id, key, value, conversation, expires_ms) ' +
        'VALUES ((SELECT coalesce(max(id), 0) + 1 FROM entries), ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE ' +
        'SET id = excluded.id, value = excluded.value, conversation = excluded.conversation, expires_ms = excluded.expires_ms',
    )
    insert.run('key', Buffer.from('newer'), null, null)
    const store = await openAt(path)
    expect((await store.getFirst(['key']))?.value).toBe('newer')
    expect(() => insert.run('key', Buffer.from('late'), null, null)).toThrow(/./)
    expect((await store.getFirst(['key']))?.value).toBe('newer')
  })
})
