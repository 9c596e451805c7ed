import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { encryptedStore } from '../../src/stores/encrypted-store.ts'
import { openMemoryStore } from '../../src/stores/memory-store.ts'
import { openSqliteStore } from '../../src/stores/sqlite-store.ts'
import type { Store } from '../../src/stores/store.ts'
import { temporaryFolder } from '../config/temporary-folder.ts'
import { storeContract } from '../contracts/store-contract.ts'

storeContract('an encrypted store', async ({ bytesMax, lifetimeMs }) =>
  encryptedStore(openMemoryStore({ charsMax: bytesMax, lifetimeMs }), 'secret'),
)

const memory = (): Store => openMemoryStore({ charsMax: 1_000_000, lifetimeMs: 0 })

/** What really lies in the store under this key. */
async function stored(store: Store, key: string): Promise<string> {
  return (await store.getFirst([key]))?.value ?? ''
}

describe('what lies in the store', () => {
  test('is not readable in the file, nor are there two equal texts for one value', async () => {
    const path = join(await temporaryFolder(), 'store.sqlite')
    const store = encryptedStore(
      await openSqliteStore({ path, bytesMax: 1_000_000, lifetimeMs: 0 }),
      'secret',
    )
    await store.put('a', 'PLANTED content')
    await store.put('b', 'PLANTED content')
    expect(await stored(store, 'a')).toBe('PLANTED content')
    await store.close()
    expect((await readFile(path)).includes('PLANTED')).toBe(false)

    const inner = memory()
    const twice = encryptedStore(inner, 'secret')
    await twice.put('a', 'same')
    const first = await stored(inner, 'a')
    await twice.put('a', 'same')
    expect(await stored(inner, 'a')).not.toBe(first)
    expect(first).toMatch(/^v1:/)
  })

  test('is as good as absent for another secret, and gives way to a fresh value', async () => {
    const inner = memory()
    await encryptedStore(inner, 'old secret').put('key', 'old')
    const store = encryptedStore(inner, 'new secret')
    expect(await store.getFirst(['key'])).toBeNull()
    expect(await store.putIfAbsent('key', 'new', 'group')).toBe('new')
    expect(await store.getFirst(['key'])).toEqual({ index: 0, value: 'new' })
    expect(await store.deleteGroup('group')).toBe(1)
  })

  test('is passed over where a later key can be read', async () => {
    const inner = memory()
    await inner.put('clear', 'written before there was a secret')
    await encryptedStore(inner, 'old secret').put('old', 'old')
    const store = encryptedStore(inner, 'secret')
    await store.put('mine', 'mine')
    expect(await store.getFirst(['clear', 'none', 'old', 'mine'])).toEqual({ index: 3, value: 'mine' })
  })

  test('cannot be moved to another key', async () => {
    const inner = memory()
    const store = encryptedStore(inner, 'secret')
    await store.put('a', 'of a')
    await inner.put('b', await stored(inner, 'a'))
    expect(await store.getFirst(['b'])).toBeNull()
  })

  test.each([
    ['cut', (text: string) => text.slice(0, -8)],
    ['cut to nothing', (text: string) => text.slice(0, 6)],
    ['changed', (text: string) => `${text.slice(0, 20)}${text[20] === 'A' ? 'B' : 'A'}${text.slice(21)}`],
    ['of a later version', (text: string) => text.replace('v1:', 'v2:')],
    ['no base64', () => 'v1:\u0000😀'],
  ])('never fails where it is %s', async (_how, damage) => {
    const inner = memory()
    const store = encryptedStore(inner, 'secret')
    await store.put('key', 'a value of some length')
    await inner.put('key', damage(await stored(inner, 'key')))
    expect(await store.getFirst(['key'])).toBeNull()
    expect(await store.putIfAbsent('key', 'fresh')).toBe('fresh')
  })
})
