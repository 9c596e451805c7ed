import { modelKeyOf } from '../../src/models/model-record.ts'
import { beliefAt } from '../../src/models/lifetimes.ts'
import { expect, test } from 'vitest'
import { createCounts } from '../../src/models/counts/counts.ts'
import { noteCached, readsFromCache } from '../../src/models/learn.ts'
import { createWindows } from '../../src/models/windows.ts'
import { readSharedWindow } from '../../src/models/models.ts'
import { digest } from '../../src/pipeline/read/read-chat.ts'
import { openMemoryStore } from '../../src/storage/memory-store.ts'
import type { Store } from '../../src/storage/store.ts'
import { modelsOn } from '../support/models.ts'

const key = modelKeyOf('default', 'c1', 'm', 'http://upstream')
const other = modelKeyOf('default', 'c1', 'other', 'http://upstream')

function open(store = openMemoryStore({ bytesMax: 1_000_000, lifetimeMs: 0 })) {
  let nowMs = 1_000_000
  const models = modelsOn(store, () => nowMs)
  const windows = createWindows({ models, onLearnt: () => {} })
  const counts = createCounts({ models, promptsMax: 100 })
  return {
    models,
    windows,
    counts,
    pass: (milliseconds: number) => void (nowMs += milliseconds),
    idOf: (model: string) => models.list().find((each) => each.key.model === model)?.id ?? '',
  }
}

test('to forget a model is to forget what is kept of it beside its record, and nothing of others', () => {
  const { models, windows, counts, idOf } = open()
  const answered = {
    textBytes: 400,
    counted: { ownTokens: 100, aroundTokens: 0, looseTokens: 0, conversationTokens: 100 },
    answeredBy: null,
    promptTokens: 120,
  }
  const beginnings = [{ prompt: 'p', conversationTokens: 100 }]
  for (const each of [key, other]) {
    models.set(each, 'name', 'a name', 'answer')
    windows.recovered(each, 'conversation', 9_000)
    counts.observe({ key: each, encoding: 'e' }, 'p', answered, null)
    noteCached(models, each, 10_000, 9_000)
  }
  expect(models.forgetAll(idOf('m'))).toBe(key)
  counts.forget(key)
  expect(models.list().map((model) => model.key)).toEqual([other])
  const left = (each: typeof key) => [
    windows.suggestedTokens(each, 'conversation'),
    counts.anchorAt({ key: each, encoding: 'e' }, beginnings)?.promptTokens ?? null,
    counts.answered({ key: each, encoding: 'e' }, 'p') !== undefined,
    readsFromCache(models, each),
  ]
  expect(left(key)).toEqual([null, null, false, false])
  expect(left(other)).toEqual([8_999, 120, true, true])
  expect(models.forgetAll('nothing')).toBeNull()
})

test('a model that is forgotten before its record was read stays so when it is', async () => {
  const store = openMemoryStore({ bytesMax: 1_000_000, lifetimeMs: 0 })
  const before = open(store)
  await before.models.load(key)
  before.models.set(key, 'window', { tokens: 8_192, kind: 'total' }, 'refusal')
  await before.models.close()
  const { models, idOf, pass } = open(store)
  pass(1)
  models.set(key, 'name', 'a name', 'answer')
  models.forgetAll(idOf('m'))
  await models.load(key)
  expect(models.get(key, 'window')).toBeNull()
})

/** Whether it is taken to read from a cache after prompts that so much was cached of; of 10,000 tokens unless said otherwise. */
function readsAfter(...reports: readonly (number | null | [number, number])[]): boolean {
  const models = modelsOn()
  for (const report of reports) {
    const [promptTokens, cached] = Array.isArray(report) ? report : [10_000, report]
    noteCached(models, key, promptTokens, cached)
  }
  expect(readsFromCache(models, other)).toBe(false)
  return readsFromCache(models, key)
}

// A summary was asked for with a transcript whenever the request before it was the first of a compaction: that one had read
// nothing, as every first request of a compaction does, and the run's figures changed with how busy the machine was.
test('a provider has a cache until it reads nothing twice in a row, short prompts aside', () => {
  expect([readsAfter(), readsAfter(null)]).toEqual([false, false])
  expect([readsAfter(9_000, 0), readsAfter(9_000, 0, 9_000, 0)]).toEqual([true, true])
  expect(readsAfter(9_000, 0, null)).toBe(false)
  // Not everybody caches those.
  expect(readsAfter(9_000, [1_000, 0], [1_000, 0])).toBe(true)
})

const address = 'http://upstream'
const one = key
const two = modelKeyOf('default', 'c2', 'm', address)

const freshStore = (): Store => openMemoryStore({ bytesMax: 1_000_000, lifetimeMs: 0 })

test('whoever learns of a window tells those who ask without a credential, for an hour, and of other models nothing', async () => {
  const store = freshStore()
  const models = modelsOn(store, () => 1_000)
  models.set(one, 'window', { tokens: 8_192, kind: 'total' }, 'refusal')
  models.set(two, 'answered', 5_000, 'answer')
  models.set(two, 'name', 'm-2026', 'answer')
  await models.close()
  const asked = { upstream: 'default', address, model: 'm' }
  const shared = await readSharedWindow(store, asked, digest)
  expect(shared.window).toMatchObject({ value: { tokens: 8_192, kind: 'total' }, from: 'refusal' })
  expect([shared.answered?.value, shared.name]).toEqual([5_000, undefined])
  expect(beliefAt(shared, 'window', 3_600_999)?.value.tokens).toBe(8_192)
  expect(beliefAt(shared, 'window', 3_601_000)).toBeNull()
  for (const elsewhere of [{ model: 'n' }, { upstream: 'other' }, { address: 'http://elsewhere' }])
    expect(await readSharedWindow(store, { ...asked, ...elsewhere }, digest)).toEqual({})
})

test('of several processes and credentials the newest word stands, and what was taken back is gone', async () => {
  const store = freshStore()
  let nowMs = 1_000
  for (const [each, tokens] of [
    [one, 8_192],
    [two, 4_096],
  ] as const) {
    const models = modelsOn(store, () => (nowMs += 1_000))
    models.set(each, 'window', { tokens, kind: 'total' }, 'refusal')
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
