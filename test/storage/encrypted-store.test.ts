import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { encryptedStore } from '../../src/storage/encrypted-store.ts'
import { openMemoryStore } from '../../src/storage/memory-store.ts'
import { openSqliteStore } from '../../src/storage/sqlite-store.ts'
import type { JournalPage, Store } from '../../src/storage/store.ts'
import { temporaryFolder } from '../config/temporary-folder.ts'
import { storeContract } from '../contracts/store-contract.ts'
import { putValue } from '../support/put-value.ts'

storeContract('an encrypted store', async (limits) => encryptedStore(openMemoryStore(limits), 'secret'))

const memory = (): Store => openMemoryStore({ bytesMax: 1_000_000, lifetimeMs: 0 })

/** An encrypted store, and what really lies in it. */
function open() {
  const inner = memory()
  return { inner, store: encryptedStore(inner, 'secret') }
}

/** What really lies in the store under this key. */
const stored = async (store: Store, key: string): Promise<string> =>
  (await store.getFirst([key]))?.value ?? ''

describe('what lies in the store', () => {
  test('is not readable in the file, nor are there two equal texts for one value', async () => {
    const path = join(await temporaryFolder(), 'store.sqlite')
    const file = await openSqliteStore({ path, bytesMax: 1_000_000, lifetimeMs: 0 })
    const store = encryptedStore(file, 'secret')
    await putValue(store, 'a', 'PLANTED content')
    expect(await stored(store, 'a')).toBe('PLANTED content')
    await store.close()
    expect((await readFile(path)).includes('PLANTED')).toBe(false)

    const { inner, store: twice } = open()
    await putValue(twice, 'a', 'same')
    const first = await stored(inner, 'a')
    await putValue(twice, 'a', 'same')
    expect(await stored(inner, 'a')).not.toBe(first)
    expect(first).toMatch(/^v1:/)
  })

  test('is as good as absent for another secret, and gives way to a fresh value', async () => {
    const inner = memory()
    await putValue(encryptedStore(inner, 'old secret'), 'key', 'old')
    const store = encryptedStore(inner, 'new secret')
    expect(await store.getFirst(['key'])).toBeNull()
    expect(await store.putIfAbsent('key', 'new', 'group')).toBe('new')
    expect(await store.getFirst(['key'])).toEqual({ index: 0, value: 'new' })
    expect(await store.deleteGroup('group')).toBe(1)
  })

  test('is passed over where a later key can be read', async () => {
    const inner = memory()
    await putValue(inner, 'clear', 'written before there was a secret')
    await putValue(encryptedStore(inner, 'old secret'), 'old', 'old')
    const store = encryptedStore(inner, 'secret')
    await putValue(store, 'mine', 'mine')
    expect(await store.getFirst(['clear', 'none', 'old', 'mine'])).toEqual({ index: 3, value: 'mine' })
  })

  test('cannot be moved to another key', async () => {
    const { inner, store } = open()
    await putValue(store, 'a', 'of a')
    await putValue(inner, 'b', await stored(inner, 'a'))
    expect(await store.getFirst(['b'])).toBeNull()
  })

  test.each([
    ['cut', (text: string) => text.slice(0, -8)],
    ['cut to nothing', (text: string) => text.slice(0, 6)],
    ['changed', (text: string) => `${text.slice(0, 20)}${text[20] === 'A' ? 'B' : 'A'}${text.slice(21)}`],
    ['of a later version', (text: string) => text.replace('v1:', 'v2:')],
    ['no base64', () => 'v1:\u0000😀'],
  ])('never fails where it is %s', async (_how, damage) => {
    const { inner, store } = open()
    await putValue(store, 'key', 'a value of some length')
    await putValue(inner, 'key', damage(await stored(inner, 'key')))
    expect(await store.getFirst(['key'])).toBeNull()
    expect(await store.putIfAbsent('key', 'fresh')).toBe('fresh')
  })
})

const rows = (count: number, text: string) => Array.from({ length: count }, () => ({ text }))
describe('the rows of a journal', () => {
  const all: JournalPage = { from: 'oldest', beyond: null, limit: 1_000 }

  test('are not readable in the store, nor are there two equal texts for one row', async () => {
    const { inner, store } = open()
    await store.appendRows('events', [{ text: 'PLANTED' }, { text: 'PLANTED', group: 'group' }])
    const sealed = (await inner.readRows('events', all)).map(({ text }) => text)
    expect(sealed.join()).not.toContain('PLANTED')
    expect(new Set(sealed).size).toBe(2)
    expect(await store.deleteGroup('group')).toBe(1)
  })

  // Whoever followed a journal got an empty page, again and again, after the key had been changed.
  test.each(['oldest', 'newest'] as const)(
    'are found behind many that cannot be read: from the %s',
    async (from) => {
      const inner = openMemoryStore({ bytesMax: 64_000_000, lifetimeMs: 0 })
      const store = encryptedStore(inner, 'secret')
      for (const text of ['one', 'two', 'three']) {
        await inner.appendRows('events', rows(400, 'in the clear'))
        await encryptedStore(inner, 'old secret').appendRows('events', rows(300, 'of before'))
        await store.appendRows('events', [{ text }])
      }
      await inner.appendRows('events', rows(400, 'in the clear'))
      const told = from === 'oldest' ? ['one', 'two', 'three'] : ['three', 'two', 'one']
      for (const limit of [3, 500]) {
        const read: string[] = []
        for (let beyond: string | null = null; ;) {
          const page = await store.readRows('events', { from, beyond, limit })
          read.push(...page.map(({ text }) => text).filter((text) => text !== ''))
          expect(page.length).toBeLessThanOrEqual(limit)
          if (page.length < limit) break
          beyond = page.at(-1)?.id ?? null
        }
        expect(read).toEqual(told)
      }
    },
  )

  test('cannot be moved to another journal, nor be a value', async () => {
    const { inner, store } = open()
    await store.appendRows('events', [{ text: 'of events' }])
    await putValue(store, 'events', 'a value')
    const [row] = await inner.readRows('events', all)
    await inner.appendRows('usage', [{ text: row?.text ?? '' }, { text: await stored(inner, 'events') }])
    expect((await store.readRows('usage', all)).map(({ text }) => text)).toEqual(['', ''])
    expect((await store.readRows('events', all)).map(({ text }) => text)).toEqual(['of events'])
  })
})
