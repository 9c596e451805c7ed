import { setTimeout } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Store, StoreLimits } from '../../src/storage/store.ts'
import { journalContract, type StoreClock } from './journal-contract.ts'
import { putValue } from '../support/put-value.ts'

export type OpenStore = (limits: StoreLimits) => Promise<Store>

/** What every store owes. `open` gives an empty one. */
export function storeContract(name: string, open: OpenStore, clock: StoreClock = movedClock): void {
  async function opened(limits: Partial<StoreLimits> = {}): Promise<Store> {
    const store = await open({ lifetimeMs: 0, bytesMax: 64 * MEGABYTE, ...limits })
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
      await putValue(store, 'second', '2')
      await putValue(store, 'first', '1')
      expect(await store.getFirst(['first', 'second'])).toEqual({ index: 0, value: '1' })
      expect(await store.getFirst(['second', 'first'])).toEqual({ index: 0, value: '2' })
      expect(await store.getFirst(['none', 'other', 'second', 'first'])).toEqual({ index: 2, value: '2' })
    })

    test('finds the one key among hundreds', async () => {
      const store = await opened()
      await putValue(store, 'key 255', 'here')
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
      await putValue(store, 'key', 'new')
      expect(await store.getFirst(['key'])).toEqual({ index: 0, value: 'new' })
      expect(await store.putIfAbsent('key', 'late')).toBe('new')
    })

    test('writes several at once, replacing what was there, each in its group', async () => {
      const store = await opened()
      await putValue(store, 'one', 'old')
      await store.put([])
      await store.put([
        { key: 'one', value: 'new', group: 'first' },
        { key: 'two', value: 'other', group: 'second' },
        { key: 'three', value: 'in none' },
      ])
      for (const [key, value] of [
        ['one', 'new'],
        ['two', 'other'],
        ['three', 'in none'],
      ] as const)
        expect(await store.getFirst([key])).toEqual({ index: 0, value })
      expect(await store.deleteGroup('first')).toBe(1)
      expect(await store.getFirst(['one', 'two'])).toEqual({ index: 1, value: 'other' })
      expect(await store.getFirst(['three'])).toEqual({ index: 0, value: 'in none' })
    })

    test('writes what yields where nothing stands, and nowhere else', async () => {
      const store = await opened()
      await putValue(store, 'one', 'stands')
      await store.put([
        { key: 'one', value: 'late', yields: true },
        { key: 'two', value: 'first', yields: true },
        { key: 'two', value: 'second', yields: true },
      ])
      expect(await store.getFirst(['one'])).toEqual({ index: 0, value: 'stands' })
      expect(await store.getFirst(['two'])).toEqual({ index: 0, value: 'first' })
      await putValue(store, 'two', 'new')
      expect(await store.getFirst(['two'])).toEqual({ index: 0, value: 'new' })
    })

    test('gives back every text as it was', async () => {
      const store = await opened()
      for (const text of ['', ' ', '{"a":"\\u0000"}', 'nul \u0000 in it', 'é 你好 😀', 'x'.repeat(100_000)]) {
        await putValue(store, `key of ${text.slice(0, 20)}`, text)
        expect(await store.getFirst([`key of ${text.slice(0, 20)}`])).toEqual({ index: 0, value: text })
        await store.appendRows('usage', [{ text }])
        expect((await store.readRows('usage', newestRow))[0]?.text).toBe(text)
      }
    })

    test('takes keys apart that differ in one character or in case only', async () => {
      const store = await opened()
      await putValue(store, 'compaction:a:b:key', 'one')
      expect(
        await store.getFirst(['compaction:a:b:keY', 'compaction:a:b:ke', 'compaction:a:b:key ']),
      ).toBeNull()
    })

    test('forgets what has outlived its time, and takes a new value then', async () => {
      const store = await opened({ lifetimeMs: clock.lifeMs })
      await putValue(store, 'key', 'old')
      expect((await store.getFirst(['key']))?.value).toBe('old')
      await clock.pass(clock.lifeMs + 1)
      expect(await store.getFirst(['key'])).toBeNull()
      expect(await store.putIfAbsent('key', 'new')).toBe('new')
    })

    test('keeps for ever what has no time set', async () => {
      const store = await opened({ lifetimeMs: 0 })
      await putValue(store, 'key', 'value')
      await store.appendRows('events', [{ text: 'row' }])
      await clock.pass(clock.lifeMs)
      expect((await store.getFirst(['key']))?.value).toBe('value')
      expect(await store.readRows('events', newestRow)).toMatchObject([{ text: 'row' }])
    })

    test('gives back values of a few megabytes', async () => {
      const store = await opened()
      const text = 'words 你好 '.repeat(400_000)
      await putValue(store, 'key', text)
      expect((await store.getFirst(['none', 'key']))?.value === text).toBe(true)
      expect((await store.putIfAbsent('key', 'late')) === text).toBe(true)
    })

    test('takes text that is no valid Unicode, and stays sound', async () => {
      const store = await opened()
      await putValue(store, 'key', 'half a pair: \ud83d, and another: \udc00')
      expect((await store.getFirst(['key']))?.value).toMatch(/^half a pair: .+, and another: .+$/)
      await putValue(store, 'key \ud83d', 'value', 'group \ud83d')
      await store.getFirst(['key \ud83d'])
      await store.appendRows('usage', [{ text: 'half a pair: \ud83d.', group: 'group \ud83d' }])
      expect((await store.readRows('usage', newestRow))[0]?.text).toMatch(/^half a pair: .+\.$/)
      await store.deleteGroup('group \ud83d')
      expect(await store.putIfAbsent('other', 'sound')).toBe('sound')
    })
  })

  describe(`${name} holds no more than it may`, () => {
    test('the oldest go, the newest stay, and the room is used', async () => {
      const store = await opened({ bytesMax: MEGABYTE })
      const kept = await fill(store, { values: 400, bytes: 10_000 })
      const bytes = kept.length * 10_000
      expect(bytes).toBeLessThanOrEqual(MEGABYTE * 1.1)
      expect(bytes).toBeGreaterThanOrEqual(MEGABYTE * 0.5)
      expect(kept).toEqual(Array.from({ length: kept.length }, (_, index) => 400 - kept.length + index))
    })

    test('a value that is larger than the store is passed through, and not kept', async () => {
      const store = await opened({ bytesMax: MEGABYTE })
      const large = 'x'.repeat(2 * MEGABYTE)
      await putValue(store, 'small', 'value')
      expect((await store.putIfAbsent('large', large)) === large).toBe(true)
      await putValue(store, 'large', large)
      expect(await store.getFirst(['large'])).toBeNull()
      expect(await store.getFirst(['small'])).not.toBeNull()
    })

    test('what was deleted makes room', async () => {
      const store = await opened({ bytesMax: MEGABYTE })
      await putValue(store, 'old', 'value')
      for (let round = 0; round < 30; round += 1) {
        await putValue(store, `large ${round}`, 'x'.repeat(MEGABYTE / 4), 'group')
        await store.deleteGroup('group')
      }
      expect(await store.getFirst(['old'])).not.toBeNull()
    })
  })

  describe(`${name} knows which conversation a value belongs to`, () => {
    test('deletes the values of a group, says how many they were, and leaves all others', async () => {
      const store = await opened()
      await putValue(store, 'a', '1', 'one')
      await store.putIfAbsent('b', '2', 'one')
      await putValue(store, 'c', '3', 'two')
      await putValue(store, 'd', '4')
      expect(await store.deleteGroup('one')).toBe(2)
      expect(await store.getFirst(['a', 'b'])).toBeNull()
      expect((await store.getFirst(['c']))?.value).toBe('3')
      expect((await store.getFirst(['d']))?.value).toBe('4')
      expect(await store.deleteGroup('one')).toBe(0)
      expect(await store.putIfAbsent('a', 'again', 'one')).toBe('again')
      expect(await store.deleteGroup('one')).toBe(1)
    })

    test('an unknown group has no values, and groups are taken apart exactly', async () => {
      const store = await opened()
      await putValue(store, 'a', '1', 'group')
      for (const other of ['grou', 'group ', 'Group', '*', 'group*', '']) {
        expect(await store.deleteGroup(other)).toBe(0)
      }
      expect(await store.deleteGroup('group')).toBe(1)
    })

    test('a value that is written again belongs to the group that it was written with last', async () => {
      const store = await opened()
      await putValue(store, 'a', '1', 'one')
      await putValue(store, 'a', '2', 'two')
      await putValue(store, 'b', '1', 'one')
      await putValue(store, 'b', '2')
      expect(await store.deleteGroup('one')).toBe(0)
      expect((await store.getFirst(['b']))?.value).toBe('2')
      expect(await store.deleteGroup('two')).toBe(1)
      expect(await store.getFirst(['a'])).toBeNull()
    })

    test('a value that came too late belongs to no group', async () => {
      const store = await opened()
      await putValue(store, 'a', '1', 'one')
      expect(await store.putIfAbsent('a', '2', 'two')).toBe('1')
      expect(await store.deleteGroup('two')).toBe(0)
      expect(await store.deleteGroup('one')).toBe(1)
    })

    test('what has outlived its time is in no group', async () => {
      const store = await opened({ lifetimeMs: clock.lifeMs })
      await putValue(store, 'c', '1', 'one')
      await clock.pass(clock.lifeMs + 1)
      expect(await store.getFirst(['c'])).toBeNull()
      expect(await store.deleteGroup('one')).toBe(0)
    })

    test('a conversation of thousands of values goes as a whole', async () => {
      const store = await opened()
      const entries = Array.from({ length: 2_500 }, (_, key) => ({
        key: `key ${key}`,
        value: 'value',
        group: 'long',
      }))
      for (let start = 0; start < 2_500; start += 500) await store.put(entries.slice(start, start + 500))
      await putValue(store, 'other', 'value', 'short')
      expect(await store.deleteGroup('long')).toBe(2_500)
      expect(await store.getFirst(['key 0', 'key 1200', 'key 2499'])).toBeNull()
      expect(await store.getFirst(['other'])).not.toBeNull()
    })
  })

  describe(`${name} can be emptied`, () => {
    test('of every value and every lease, and is used on', async () => {
      const store = await opened()
      await putValue(store, 'a', '1', 'one')
      await putValue(store, 'b', '2')
      await store.lease('summary', 'holder', 60_000)
      expect(await store.purge()).toBe(2)
      expect(await store.getFirst(['a', 'b'])).toBeNull()
      expect(await store.deleteGroup('one')).toBe(0)
      expect(await store.lease('summary', 'other', 60_000)).toBe(true)
      expect(await store.purge()).toBe(0)
      await putValue(store, 'a', '3')
      expect((await store.getFirst(['a']))?.value).toBe('3')
    })
  })

  describe(`${name} grants leases`, () => {
    test('to one holder at a time, who may prolong it', async () => {
      const store = await opened()
      expect(await store.lease('key', 'mine', 60_000)).toBe(true)
      expect(await store.lease('key', 'theirs', 60_000)).toBe(false)
      expect(await store.lease('key', 'mine', 60_000)).toBe(true)
      expect(await store.lease('other', 'theirs', 60_000)).toBe(true)
      expect(await store.getFirst(['key'])).toBeNull()
    })

    test('until they are given back by their holder, and by nobody else', async () => {
      const store = await opened()
      await store.lease('key', 'mine', 60_000)
      await store.release('key', 'theirs')
      expect(await store.lease('key', 'theirs', 60_000)).toBe(false)
      await store.release('key', 'mine')
      expect(await store.lease('key', 'theirs', 60_000)).toBe(true)
      await store.release('none', 'mine')
    })

    test('until their time is up, counted from when they were prolonged', async () => {
      const store = await opened()
      expect(await store.lease('key', 'mine', clock.lifeMs)).toBe(true)
      expect(await store.lease('long', 'mine', clock.lifeMs)).toBe(true)
      expect(await store.lease('long', 'mine', 10 * clock.lifeMs)).toBe(true)
      await clock.pass(clock.lifeMs + 1)
      expect(await store.lease('key', 'theirs', 60_000)).toBe(true)
      expect(await store.lease('key', 'mine', 60_000)).toBe(false)
      expect(await store.lease('long', 'theirs', 10 * clock.lifeMs)).toBe(false)
    })

    test('to exactly one of many who ask at once', async () => {
      const store = await opened()
      const holders = Array.from({ length: 50 }, (_, index) => `holder ${index}`)
      const won = await Promise.all(holders.map((holder) => store.lease('key', holder, 60_000)))
      expect(won.filter(Boolean)).toHaveLength(1)
    })
  })

  journalContract(name, opened, clock)
}

const MEGABYTE = 1024 * 1024
const newestRow = { from: 'newest', beyond: null, limit: 1 } as const

let aheadMs = 0
const dateNow = Date.now.bind(Date)
const processNow = performance.now.bind(performance)

/** Both clocks of this process are moved on, and put back with the test. */
const movedClock: StoreClock = {
  lifeMs: 60_000,
  pass: async (milliseconds) => {
    if (aheadMs === 0) {
      vi.spyOn(Date, 'now').mockImplementation(() => dateNow() + aheadMs)
      vi.spyOn(performance, 'now').mockImplementation(() => processNow() + aheadMs)
      onTestFinished(() => {
        vi.restoreAllMocks()
        aheadMs = 0
      })
    }
    aheadMs += milliseconds
    // What was looked up of a clock holds for a millisecond (lru-cache).
    await setTimeout(2)
  },
}

/** Writes many values of the same size, and tells which of them are kept, in the order they were written in. */
async function fill(store: Store, { values, bytes }: { values: number; bytes: number }): Promise<number[]> {
  const text = 'x'.repeat(bytes)
  for (let value = 0; value < values; value += 1) await store.putIfAbsent(`key ${value}`, text)
  const kept: number[] = []
  for (let value = 0; value < values; value += 1) {
    if ((await store.getFirst([`key ${value}`])) !== null) kept.push(value)
  }
  return kept
}
