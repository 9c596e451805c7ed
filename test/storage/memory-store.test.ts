import { setTimeout } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { openMemoryStore } from '../../src/storage/memory-store.ts'
import { type JournalPage, journalRowsMax } from '../../src/storage/store.ts'
import { storeContract } from '../contracts/store-contract.ts'
import { putValue } from '../support/put-value.ts'

storeContract('the memory store', async (limits) => openMemoryStore(limits))

test('holds no more than it may, and what was used last stays', async () => {
  const store = openMemoryStore({ bytesMax: 10_000, lifetimeMs: 0 })
  const text = 'x'.repeat(990)
  for (let key = 0; key < 100; key += 1) {
    await putValue(store, `key ${key}`, text)
    expect(await store.getFirst(['key 0'])).not.toBeNull()
  }
  const kept: number[] = []
  for (let key = 0; key < 100; key += 1) if ((await store.getFirst([`key ${key}`])) !== null) kept.push(key)
  expect(kept.length).toBeLessThanOrEqual(10)
  expect(kept).toContain(0)
  expect(kept).toContain(99)
  expect(kept).not.toContain(1)
})

test('gives who comes with an id of a process before all rows of this one', async () => {
  const page: JournalPage = { from: 'oldest', beyond: null, limit: 1_000 }
  const before = openMemoryStore({ bytesMax: 1_000_000, lifetimeMs: 0 })
  for (let row = 0; row < 50; row += 1) await before.appendRows('events', [{ text: 'before' }])
  const beyond = (await before.readRows('events', page)).at(-1)?.id ?? ''
  await setTimeout(5)
  const after = openMemoryStore({ bytesMax: 1_000_000, lifetimeMs: 0 })
  await after.appendRows('events', [{ text: 'after' }])
  expect(await after.readRows('events', { ...page, beyond })).toHaveLength(1)
})

test.each([
  [1, 100],
  [5, 291],
  [64, 3_728],
  [512, 20_000],
  [1_048_576, 20_000],
])('in a store of %i MB a journal holds %i rows', (megabytes, rows) => {
  expect(journalRowsMax(megabytes * 1024 * 1024)).toBe(rows)
})
