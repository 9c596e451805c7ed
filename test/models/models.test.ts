import { modelKeyOf } from '../../src/models/model-record.ts'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createAcceptedCredentials } from '../../src/models/open-models.ts'
import { createModels, type Models } from '../../src/models/models.ts'
import { createFailures } from '../../src/telemetry/failures.ts'
import { createStoreGuard } from '../../src/storage/store-guard.ts'
import { digest } from '../../src/pipeline/read/read-chat.ts'
import type { Store } from '../../src/storage/store.ts'
import { sharedStore } from '../pipeline/records/shared-store.ts'

const key = modelKeyOf('default', 'c1', 'm', 'http://upstream')
const total = (tokens: number) => ({ tokens, kind: 'total' as const })
const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

/** What one replica believes, and its way to the store. `aheadMs`: how far its clock is ahead of true time. */
function replicaOn(
  store: Store,
  options: { readonly heldKeyMark?: () => string; readonly aheadMs?: () => number } = {},
) {
  const { heldKeyMark = () => '', aheadMs = () => 0 } = options
  const failed: string[] = []
  const failures = createFailures((part) => failed.push(part))
  const models = createModels({
    store,
    guarded: createStoreGuard(failures),
    digest,
    nowMs: () => Date.now() + aheadMs(),
  })
  return {
    models,
    failed,
    accepted: createAcceptedCredentials(models, heldKeyMark),
    /** As a request does that taught something. */
    learns: async (teach: (models: Models) => void) => {
      await models.load(key)
      teach(models)
      await vi.advanceTimersByTimeAsync(1_000)
    },
    window: () => models.get(key, 'window'),
  }
}

/** Lets replicas read again: each at its next request. */
async function later(...replicas: readonly ReturnType<typeof replicaOn>[]): Promise<void> {
  await vi.advanceTimersByTimeAsync(minuteMs)
  for (const { models } of replicas) await models.load(key)
  await vi.advanceTimersByTimeAsync(1_000)
}

/** A store on which a replica has learnt a window. */
async function taught(tokens: number, options: Parameters<typeof replicaOn>[1] = {}) {
  const shared = sharedStore()
  const one = replicaOn(shared.store, options)
  await one.learns((models) => models.set(key, 'window', total(tokens), 'refusal'))
  return { ...shared, one }
}

/** A replica that has read what the store holds. */
async function readerOf(store: Store, options: Parameters<typeof replicaOn>[1] = {}) {
  const replica = replicaOn(store, options)
  await replica.models.load(key)
  return replica
}

describe('replicas on one store', () => {
  test('know of each other’s lessons, whichever part of a record they are in', async () => {
    const { store } = sharedStore()
    const [one, other] = [replicaOn(store), await readerOf(store)]
    await one.learns((models) => models.set(key, 'window', total(8192), 'refusal'))
    await other.learns((models) => models.set(key, 'placement', 'strict', 'refusal'))
    expect(other.window()).toEqual(total(8192))
    await later(one)
    expect(one.models.get(key, 'placement')).toBe('strict')
    expect(one.window()).toEqual(total(8192))
  })

  test('forget what one of them has found to be wrong, and do not bring it back to each other', async () => {
    const { store } = sharedStore()
    const [one, other] = [replicaOn(store), replicaOn(store)]
    await one.learns((models) => models.set(key, 'window', total(4096), 'cut'))
    await other.models.load(key)
    expect(other.window()).toEqual(total(4096))
    await one.learns((models) => models.forget(key, 'window'))
    await later(other, one)
    expect([one.window(), other.window()]).toEqual([null, null])
  })

  test('come to rest: once they know the same, nothing is written', async () => {
    const { store, writes } = sharedStore()
    const [one, other] = [replicaOn(store), await readerOf(store)]
    await one.learns((models) => models.set(key, 'window', total(8192), 'refusal'))
    await other.learns((models) => models.set(key, 'window', total(4096), 'refusal'))
    await later(one, other)
    const before = writes()
    await later(one, other)
    expect(writes()).toBe(before)
    expect([one.window(), other.window()]).toEqual([total(4096), total(4096)])
  })

  test('write a record again that the store has lost', async () => {
    const { store, one } = await taught(8192)
    await store.purge()
    await later(one)
    expect((await readerOf(store)).window()).toEqual(total(8192))
  })
})

test('what is learnt is written at most once a second, what was learnt last at the end, and nothing after that', async () => {
  const { store, writes } = sharedStore()
  const one = replicaOn(store)
  await one.models.load(key)
  for (let tokens = 9000; tokens > 8000; tokens -= 10) {
    one.models.set(key, 'window', total(tokens), 'refusal')
    await vi.advanceTimersByTimeAsync(50)
  }
  expect(writes()).toBeLessThanOrEqual(5)
  await vi.advanceTimersByTimeAsync(5_000)
  const before = writes()
  one.models.set(key, 'placement', 'strict', 'refusal')
  await one.models.close()
  one.models.set(key, 'placement', 'original', 'refusal')
  await vi.advanceTimersByTimeAsync(5_000)
  expect(writes()).toBe(before + 1)
})

test('a store that was absent is read once it is back', async () => {
  const { store } = await taught(8192)
  let isAbsent = true
  const late = replicaOn({
    ...store,
    getFirst: (keys) => (isAbsent ? new Promise(() => {}) : store.getFirst(keys)),
  })
  const loading = late.models.load(key)
  await vi.advanceTimersByTimeAsync(1_010)
  await loading
  expect(late.window()).toBeNull()
  isAbsent = false
  await vi.advanceTimersByTimeAsync(10_000)
  await late.models.load(key)
  expect(late.window()).toEqual(total(8192))
  expect(late.failed).toEqual(['store'])
})

describe('an accepted credential', () => {
  const otherModel = modelKeyOf('default', 'c1', 'n', 'http://upstream')

  test('is known to the next process, of its upstream and itself only, and for a day', async () => {
    const { store } = sharedStore()
    const one = replicaOn(store)
    await one.learns(() => one.accepted.note(key))
    expect(one.accepted.has(otherModel)).toBe(true)
    const { accepted, models } = replicaOn(store)
    expect(accepted.has(key)).toBe(false)
    await models.load(key)
    expect(accepted.has(key)).toBe(true)
    expect(accepted.has(modelKeyOf('default', 'c2', 'm', 'http://upstream'))).toBe(false)
    expect(accepted.has(modelKeyOf('cheap', 'c1', 'm', 'http://upstream'))).toBe(false)
    await vi.advanceTimersByTimeAsync(dayMs - 2_000)
    expect(accepted.has(key)).toBe(true)
    await vi.advanceTimersByTimeAsync(2_000)
    expect(accepted.has(key)).toBe(false)
  })

  // With the key that Foldgate holds in its place: the next one may well be refused.
  test('is so with the held key that it was accepted with, in the next process too', async () => {
    const { store } = sharedStore()
    let mark = 'first'
    const one = replicaOn(store, { heldKeyMark: () => mark })
    await one.learns(() => one.accepted.note(key))
    mark = 'second'
    expect(one.accepted.has(key)).toBe(false)
    const next = await readerOf(store, { heldKeyMark: () => 'second' })
    const same = await readerOf(store, { heldKeyMark: () => 'first' })
    expect([next, same].map(({ accepted }) => accepted.has(key))).toEqual([false, true])
  })

  test('is renewed by answers, but not written for each of them', async () => {
    const { store, writes } = sharedStore()
    const one = replicaOn(store)
    for (let hours = 0; hours < 40; hours += 1) {
      await one.learns(() => one.accepted.note(key))
      await vi.advanceTimersByTimeAsync(hourMs)
    }
    expect(one.accepted.has(key)).toBe(true)
    expect(writes()).toBeLessThan(8)
  })
})

describe('a belief ends in time', () => {
  test('in the next process as in this one', async () => {
    const { store } = sharedStore()
    await replicaOn(store).learns((models) => models.set(key, 'placement', 'original', 'refusal'))
    const next = await readerOf(store)
    expect(next.models.get(key, 'placement')).toBe('original')
    await vi.advanceTimersByTimeAsync(10 * minuteMs)
    expect(next.models.get(key, 'placement')).toBeNull()
  })

  // The clock was a day ahead until it was corrected, and a window that had been learnt by then lasted for that day.
  test('also if the clock went back since', async () => {
    let aheadMs = dayMs
    const { one } = await taught(8192, { aheadMs: () => aheadMs })
    aheadMs = 0
    expect(one.window()).toEqual(total(8192))
    await vi.advanceTimersByTimeAsync(hourMs)
    expect(one.window()).toBeNull()
  })

  // So did doubts, and for that day nothing was read of what other replicas had learnt.
  test('and so do doubts, and what others have learnt is read again', async () => {
    let aheadMs = dayMs
    const { store } = sharedStore()
    const [one, other] = [replicaOn(store, { aheadMs: () => aheadMs }), replicaOn(store)]
    await one.models.load(key)
    one.models.suspected(key).isSilentOllama = true
    await other.learns((models) => models.set(key, 'window', total(8192), 'refusal'))
    aheadMs = 0
    await later(one)
    expect(one.window()).toEqual(total(8192))
    expect(one.models.suspected(key).isSilentOllama).toBe(false)
  })

  test('also if another replica whose clock is ahead wrote it', async () => {
    const { store } = await taught(8192, { aheadMs: () => dayMs })
    const next = await readerOf(store)
    expect(next.window()).toEqual(total(8192))
    for (let minutes = 0; minutes < 60; minutes += 20) {
      await vi.advanceTimersByTimeAsync(20 * minuteMs)
      await next.models.load(key)
    }
    await vi.advanceTimersByTimeAsync(1_000)
    expect(next.window()).toBeNull()
  })
})
