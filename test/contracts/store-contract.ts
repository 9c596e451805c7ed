import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Store } from '../../src/stores/store.ts'

export type OpenStore = (options: {
  /** How long a value is kept, in milliseconds; 0: for ever. */
  readonly lifetimeMs: number
}) => Promise<Store>

/** What every store owes. `open` gives an empty one. */
export function storeContract(name: string, open: OpenStore): void {
  async function opened(lifetimeMs = 0): Promise<Store> {
    const store = await open({ lifetimeMs })
    onTestFinished(store.close)
    return store
  }

  describe(`${name} keeps the promises of a store`, () => {
    test('has a name for the start line, without credentials', async () => {
      const store = await opened()
      expect(store.name).not.toBe('')
      expect(store.name).not.toContain('@')
    })

    test('has nothing that was never written', async () => {
      const store = await opened()
      expect(await store.getFirst([])).toBeNull()
      expect(await store.getFirst(['a', 'b'])).toBeNull()
    })

    test('gives the value of the first key that has one, whatever order they were written in', async () => {
      const store = await opened()
      await store.put('second', '2')
      await store.put('first', '1')
      expect(await store.getFirst(['first', 'second'])).toEqual({ index: 0, value: '1' })
      expect(await store.getFirst(['second', 'first'])).toEqual({ index: 0, value: '2' })
      expect(await store.getFirst(['none', 'other', 'second', 'first'])).toEqual({ index: 2, value: '2' })
    })

    test('finds the one key among hundreds', async () => {
      const store = await opened()
      await store.put('key 255', 'here')
      const keys = Array.from({ length: 256 }, (_, index) => `key ${index}`)
      expect(await store.getFirst(keys)).toEqual({ index: 255, value: 'here' })
    })

    test('keeps what was written first', async () => {
      const store = await opened()
      expect(await store.putIfAbsent('key', 'mine')).toBe('mine')
      expect(await store.putIfAbsent('key', 'theirs')).toBe('mine')
      expect(await store.getFirst(['key'])).toEqual({ index: 0, value: 'mine' })
    })

    test('tells all of several writers at once the same value', async () => {
      const store = await opened()
      const told = await Promise.all(['a', 'b', 'c', 'd'].map((value) => store.putIfAbsent('key', value)))
      expect(new Set(told).size).toBe(1)
      expect((await store.getFirst(['key']))?.value).toBe(told[0])
    })

    test('replaces where it is told to', async () => {
      const store = await opened()
      await store.putIfAbsent('key', 'old')
      await store.put('key', 'new')
      expect(await store.getFirst(['key'])).toEqual({ index: 0, value: 'new' })
      expect(await store.putIfAbsent('key', 'late')).toBe('new')
    })

    test('deletes the keys that it is given, there or not, and no others', async () => {
      const store = await opened()
      await store.put('a', '1')
      await store.put('b', '2')
      await store.put('c', '3')
      await store.delete(['a', 'c', 'none'])
      await store.delete([])
      expect(await store.getFirst(['a', 'c'])).toBeNull()
      expect(await store.getFirst(['b'])).toEqual({ index: 0, value: '2' })
      expect(await store.putIfAbsent('a', 'again')).toBe('again')
    })

    test('gives back every text as it was', async () => {
      const store = await opened()
      for (const text of ['', ' ', '{"a":"\\u0000"}', 'nul \u0000 in it', 'é 你好 😀', 'x'.repeat(100_000)]) {
        await store.put(`key of ${text.slice(0, 20)}`, text)
        expect(await store.getFirst([`key of ${text.slice(0, 20)}`])).toEqual({ index: 0, value: text })
      }
    })

    test('takes keys apart that differ in one character or in case only', async () => {
      const store = await opened()
      await store.put('stride:a:b:key', 'one')
      expect(await store.getFirst(['stride:a:b:keY', 'stride:a:b:ke', 'stride:a:b:key '])).toBeNull()
    })

    test('forgets what has outlived its time, and takes a new value then', async () => {
      const store = await opened(20)
      await store.put('key', 'old')
      await vi.waitFor(async () => expect(await store.getFirst(['key'])).toBeNull(), { timeout: 5_000 })
      expect(await store.putIfAbsent('key', 'new')).toBe('new')
    })

    test('keeps for ever what has no time set', async () => {
      const store = await opened(0)
      await store.put('key', 'value')
      await new Promise((resolve) => {
        setTimeout(resolve, 40)
      })
      expect((await store.getFirst(['key']))?.value).toBe('value')
    })
  })
}
