import { setTimeout } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { createFailures } from '../../src/telemetry/failures.ts'
import { batchingStore } from '../../src/storage/batching-store.ts'
import { openMemoryStore } from '../../src/storage/memory-store.ts'
import { createStoreGuard } from '../../src/storage/store-guard.ts'
import type { Store, StoreEntry } from '../../src/storage/store.ts'
import { storeContract } from '../contracts/store-contract.ts'
import { passingTime } from '../support/eventually.ts'
import { putValue } from '../support/put-value.ts'

storeContract('a store that is written in batches', async (limits) => batchingStore(openMemoryStore(limits)))

/** A store in memory that tells what it was given to write, and writes when it is let. */
function watched(isHeld = false) {
  const written: (readonly StoreEntry[])[] = []
  const gate = Promise.withResolvers<void>()
  if (!isHeld) gate.resolve()
  const inner = openMemoryStore({ bytesMax: 1_000_000, lifetimeMs: 0 })
  const store: Store = {
    ...inner,
    put: async (entries) => {
      written.push(entries)
      await gate.promise
      await inner.put(entries)
    },
  }
  return { inner, store, written, gate }
}

describe('what is written within a few milliseconds', () => {
  test('is one write, the last value of each key in it', async () => {
    const { store, written, inner } = watched()
    const batching = batchingStore(store)
    await Promise.all(['a1', 'b2', 'a3'].map(([key = '', value = '']) => putValue(batching, key, value)))
    expect(written.map((entries) => entries.map(({ key, value }) => key + value))).toEqual([['b2', 'a3']])
    expect(await inner.getFirst(['a'])).toEqual({ index: 0, value: '3' })
  })

  test('yields to what stands before it is written, too', async () => {
    const { store, inner } = watched()
    const batching = batchingStore(store)
    await putValue(inner, 'b', 'stands')
    const writing = batching.put([
      { key: 'a', value: 'first', yields: true },
      { key: 'b', value: 'late', yields: true },
    ])
    const again = batching.put([{ key: 'a', value: 'second', yields: true }])
    expect(await batching.getFirst(['a'])).toEqual({ index: 0, value: 'first' })
    expect(await batching.getFirst(['b'])).toEqual({ index: 0, value: 'stands' })
    expect(await batching.getFirst(['none', 'b', 'a'])).toEqual({ index: 1, value: 'stands' })
    const replaced = putValue(batching, 'a', 'new')
    expect(await batching.getFirst(['a'])).toEqual({ index: 0, value: 'new' })
    await Promise.all([writing, again, replaced])
    expect(await inner.getFirst(['a'])).toEqual({ index: 0, value: 'new' })
  })

  test('is found before it is written, and while it is', async () => {
    const { store, inner, gate, written } = watched(true)
    const batching = batchingStore(store, { delayMs: 20 })
    await putValue(inner, 'other', 'there')
    const done = batching.put([{ key: 'a', value: '1' }])
    expect(await batching.getFirst(['none', 'a', 'other'])).toEqual({ index: 1, value: '1' })
    await expect.poll(() => written.length).toBe(1)
    expect(await batching.getFirst(['other', 'a'])).toEqual({ index: 0, value: 'there' })
    expect(await batching.getFirst(['none', 'a'])).toEqual({ index: 1, value: '1' })
    gate.resolve()
    await done
    expect(await batching.getFirst(['none', 'a'])).toEqual({ index: 1, value: '1' })
  })

  test('is there before anything that is done to the same key or group, and is not left behind it', async () => {
    const { store, inner } = watched()
    const batching = batchingStore(store, { delayMs: 10_000 })
    void batching.put([{ key: 'a', value: '1', group: 'g' }])
    expect(await batching.putIfAbsent('a', '2')).toBe('1')
    void batching.put([{ key: 'c', value: '1', group: 'g' }])
    expect(await batching.deleteGroup('g')).toBe(2)
    await setTimeout(0)
    expect(await inner.getFirst(['a', 'c'])).toBeNull()
  })

  test('does not wait where much of it comes together', async () => {
    const { store, written } = watched()
    const batching = batchingStore(store, { delayMs: 10_000 })
    await batching.put(Array.from({ length: 300 }, (_, index) => ({ key: `key ${index}`, value: 'v' })))
    expect(written[0]).toHaveLength(300)
    // And is written when the store is closed.
    const done = batching.put([{ key: 'a', value: '1' }])
    await batching.close()
    await done
    expect(written).toHaveLength(2)
  })
})

test('a write that fails is told to all who wait for it, and the next one is another', async () => {
  const { store, inner } = watched()
  let isBroken = true
  const batching = batchingStore({
    ...store,
    put: async (entries) => {
      if (isBroken) throw new Error('the disk is full')
      await store.put(entries)
    },
  })
  const both = await Promise.allSettled(['a', 'b'].map((key) => putValue(batching, key, '1')))
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(await batching.getFirst(['a', 'b'])).toBeNull()
  isBroken = false
  await batching.put([{ key: 'a', value: '2' }])
  expect(await inner.getFirst(['a'])).toEqual({ index: 0, value: '2' })
})

// Who waits for a batch is not held up by it, so that nobody saw what it cost: while a backup held the file, each batch
// held all requests up for 250 ms, and reads that went well in between let it go on.
test('a write that failed and held everything up is not tried again at once', async () => {
  let tries = 0
  const pass = passingTime()
  const inner = openMemoryStore({ bytesMax: 1_000_000, lifetimeMs: 0 })
  const batching = batchingStore({
    ...inner,
    put: async () => {
      tries += 1
      // As SQLite waits: nothing else is served meanwhile.
      pass(120)
      throw new Error('database is locked')
    },
  })
  const guarded = createStoreGuard(createFailures(() => {}))
  for (let time = 0; time < 10; time += 1) {
    await guarded(undefined, () => putValue(batching, `key ${time}`, 'value'))
    expect(await guarded<unknown>('instead', () => batching.getFirst(['none']))).toBeNull()
  }
  expect(tries).toBe(1)
})
