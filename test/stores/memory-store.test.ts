import { expect, test } from 'vitest'
import { openMemoryStore } from '../../src/stores/memory-store.ts'
import { storeContract } from '../contracts/store-contract.ts'

storeContract('the memory store', async ({ lifetimeMs }) =>
  openMemoryStore({ charsMax: 1024 * 1024, lifetimeMs }),
)

test('holds no more than it may, and what was used last stays', async () => {
  const store = openMemoryStore({ charsMax: 10_000, lifetimeMs: 0 })
  const text = 'x'.repeat(990)
  for (let key = 0; key < 100; key += 1) {
    await store.put(`key ${key}`, text)
    expect(await store.getFirst(['key 0'])).not.toBeNull()
  }
  const kept: number[] = []
  for (let key = 0; key < 100; key += 1) {
    if ((await store.getFirst([`key ${key}`])) !== null) kept.push(key)
  }
  expect(kept.length).toBeLessThanOrEqual(10)
  expect(kept).toContain(0)
  expect(kept).toContain(99)
  expect(kept).not.toContain(1)
})

test('a value larger than the whole store is not kept, and costs nothing that is there', async () => {
  const store = openMemoryStore({ charsMax: 1_000, lifetimeMs: 0 })
  await store.put('small', 'value')
  expect(await store.putIfAbsent('large', 'x'.repeat(2_000))).toHaveLength(2_000)
  expect(await store.getFirst(['large'])).toBeNull()
  expect(await store.getFirst(['small'])).not.toBeNull()
})
