import { expect, test } from 'vitest'
import { beliefAt } from '../../src/models/model-record.ts'
import { modelKeyOf } from '../../src/models/model-key.ts'
import { readSharedWindow } from '../../src/models/shared-window.ts'
import { digest } from '../../src/request/read/body-source.ts'
import { openMemoryStore } from '../../src/stores/memory-store.ts'
import type { Store } from '../../src/stores/store.ts'
import { modelsOn } from '../support/models.ts'

const address = 'http://upstream'
const one = modelKeyOf('default', 'one', 'm', address)
const two = modelKeyOf('default', 'two', 'm', address)

function freshStore(): Store {
  return openMemoryStore({ bytesMax: 1_000_000, lifetimeMs: 0 })
}

test('whoever learns of a window tells those who ask without a credential, and of other models nothing', async () => {
  const store = freshStore()
  const models = modelsOn(store)
  models.set(one, 'window', { tokens: 8_192, kind: 'total' }, 'refusal')
  models.set(two, 'answered', 5_000, 'answer')
  models.set(two, 'name', 'm-2026', 'answer')
  await models.close()
  const shared = await readSharedWindow(store, { upstream: 'default', address, model: 'm' }, digest)
  expect(shared.window).toMatchObject({ value: { tokens: 8_192, kind: 'total' }, from: 'refusal' })
  expect(shared.answered?.value).toBe(5_000)
  expect(shared.name).toBeUndefined()
  for (const other of [
    { model: 'n' },
    { model: 'm', upstream: 'other' },
    { model: 'm', address: 'http://elsewhere' },
  ])
    expect(await readSharedWindow(store, { upstream: 'default', address, ...other }, digest)).toEqual({})
})

test('of several processes and credentials the newest word stands, and what was taken back is gone', async () => {
  const store = freshStore()
  let nowMs = 1_000
  for (const [key, tokens] of [
    [one, 8_192],
    [two, 4_096],
  ] as const) {
    const models = modelsOn(store, () => (nowMs += 1_000))
    models.set(key, 'window', { tokens, kind: 'total' }, 'refusal')
    await models.close()
  }
  expect((await readSharedWindow(store, one, digest)).window?.value?.tokens).toBe(4_096)
  const models = modelsOn(store, () => (nowMs += 1_000))
  await models.load(two)
  models.forgetAll(models.list()[0]?.id ?? '')
  await models.close()
  const shared = await readSharedWindow(store, one, digest)
  expect(shared.window?.value).toBeNull()
  expect(beliefAt(shared, 'window', nowMs)).toBeNull()
})

test('it holds for an hour, as it does for requests', async () => {
  const store = freshStore()
  const models = modelsOn(store, () => 1_000)
  models.set(one, 'window', { tokens: 8_192, kind: 'total' }, 'refusal')
  await models.close()
  const shared = await readSharedWindow(store, one, digest)
  expect(beliefAt(shared, 'window', 3_600_999)?.value.tokens).toBe(8_192)
  expect(beliefAt(shared, 'window', 3_601_000)).toBeNull()
})

test('what could not be written is written the next time', async () => {
  const store = freshStore()
  let isAway = true
  const models = modelsOn({
    ...store,
    put: async (entries) => {
      if (isAway) throw new Error('away')
      await store.put(entries)
    },
  })
  models.set(one, 'window', { tokens: 8_192, kind: 'total' }, 'refusal')
  await expect(models.load(one)).rejects.toThrow('away')
  isAway = false
  await models.close()
  expect((await readSharedWindow(store, one, digest)).window?.value?.tokens).toBe(8_192)
})
