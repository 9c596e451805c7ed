import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createCalibration } from '../../../src/pressure/calibration/calibration.ts'
import { createFailures } from '../../../src/proxy/failures.ts'
import { createLearnt } from '../../../src/proxy/memory/learnt.ts'
import { createStoreGuard } from '../../../src/proxy/memory/store-guard.ts'
import { createUpstreamMemory } from '../../../src/proxy/memory/upstream-memory.ts'
import type { Store } from '../../../src/stores/store.ts'
import { sharedStore } from './shared-store.ts'

const key = { upstream: 'default', credential: 'c1', model: 'm' }
const total = (tokens: number) => ({ tokens, kind: 'total' as const })
const minuteMs = 60_000
const dayMs = 86_400_000

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

const nowMs = () => Date.now()

/** What one replica knows, and its way to the store. */
function replicaOn(store: Store, heldKeyMark = () => '') {
  const failures = createFailures(() => {})
  const memory = createUpstreamMemory({ nowMs, heldKeyMark })
  const calibration = createCalibration({ namesMax: 10, promptsMax: 10 })
  const guarded = createStoreGuard(failures)
  const learnt = createLearnt({ store, guarded, failures, memory, calibration, nowMs })
  return {
    memory,
    learnt,
    failures,
    /** As a request does that taught something. */
    learns: async (teach: (memory: ReturnType<typeof createUpstreamMemory>) => void) => {
      await learnt.load(key)
      teach(memory)
      learnt.note(key)
      await vi.advanceTimersByTimeAsync(1_000)
    },
    window: () => memory.windows.lookup(key, 'a', nowMs()),
  }
}

/** Lets replicas read again: each at its next request. */
async function later(...replicas: readonly ReturnType<typeof replicaOn>[]): Promise<void> {
  await vi.advanceTimersByTimeAsync(minuteMs)
  for (const { learnt } of replicas) await learnt.load(key)
  await vi.advanceTimersByTimeAsync(1_000)
}

describe('replicas on one store', () => {
  test('know of each other’s lessons, whichever part of a record they are in', async () => {
    const { store } = sharedStore()
    const [one, other] = [replicaOn(store), replicaOn(store)]
    await other.learnt.load(key)
    await one.learns(({ windows }) => windows.learn(key, total(8192), Date.now()))
    await other.learns(({ rememberPlacement }) => rememberPlacement(key, 'strict'))
    expect(other.window()).toEqual(total(8192))
    await later(one)
    expect(one.memory.placementOf(key)).toBe('strict')
    expect(one.window()).toEqual(total(8192))
  })

  test('forget what one of them has found to be wrong, and do not bring it back to each other', async () => {
    const { store } = sharedStore()
    const [one, other] = [replicaOn(store), replicaOn(store)]
    await one.learns(({ windows }) => windows.learnCut(key, total(4096), Date.now()))
    await other.learnt.load(key)
    expect(other.window()).toEqual(total(4096))
    await one.learns(({ windows }) => windows.forgetCut(key))
    await later(other, one)
    expect([one.window(), other.window()]).toEqual([null, null])
  })

  test('come to rest: once they know the same, nothing is written', async () => {
    const { store, writes } = sharedStore()
    const [one, other] = [replicaOn(store), replicaOn(store)]
    await other.learnt.load(key)
    await one.learns(({ windows }) => windows.learn(key, total(8192), Date.now()))
    await other.learns(({ windows }) => windows.learn(key, total(4096), Date.now()))
    await later(one, other)
    const before = writes()
    await later(one, other)
    expect(writes()).toBe(before)
    expect([one.window(), other.window()]).toEqual([total(4096), total(4096)])
  })

  test('write a record again that the store has lost', async () => {
    const { store } = sharedStore()
    const one = replicaOn(store)
    await one.learns(({ windows }) => windows.learn(key, total(8192), Date.now()))
    await store.purge()
    await later(one)
    const other = replicaOn(store)
    await other.learnt.load(key)
    expect(other.window()).toEqual(total(8192))
  })
})

test('whatever is learnt of a model is written at most once a second', async () => {
  const { store, writes } = sharedStore()
  const one = replicaOn(store)
  await one.learnt.load(key)
  for (let tokens = 9000; tokens > 8000; tokens -= 10) {
    one.memory.windows.learn(key, total(tokens), Date.now())
    one.learnt.note(key)
    await vi.advanceTimersByTimeAsync(50)
  }
  expect(writes()).toBeLessThanOrEqual(5)
})

test('what was learnt last is written at the end, and nothing after that', async () => {
  const { store, writes } = sharedStore()
  const one = replicaOn(store)
  await one.learnt.load(key)
  one.memory.rememberPlacement(key, 'strict')
  one.learnt.note(key)
  await one.learnt.close()
  expect(writes()).toBe(1)
  one.memory.rememberPlacement(key, 'original')
  one.learnt.note(key)
  await vi.advanceTimersByTimeAsync(5_000)
  expect(writes()).toBe(1)
})

test('a store that was absent is read once it is back', async () => {
  const { store } = sharedStore()
  await replicaOn(store).learns(({ windows }) => windows.learn(key, total(8192), Date.now()))
  let isAbsent = true
  const late = replicaOn({
    ...store,
    getFirst: (keys) => (isAbsent ? new Promise(() => {}) : store.getFirst(keys)),
  })
  const loading = late.learnt.load(key)
  await vi.advanceTimersByTimeAsync(1_010)
  await loading
  expect(late.window()).toBeNull()
  isAbsent = false
  await vi.advanceTimersByTimeAsync(10_000)
  await late.learnt.load(key)
  expect(late.window()).toEqual(total(8192))
  expect(late.failures.counts()).toEqual({ store: 1 })
})

describe('an accepted credential', () => {
  test('is known to the next process, of its upstream and itself only, and for a day', async () => {
    const { store } = sharedStore()
    await replicaOn(store).learns(({ accepted }) => accepted.note('default', 'c1'))
    const next = replicaOn(store)
    const { accepted } = next.memory
    expect(accepted.has('default', 'c1')).toBe(false)
    await next.learnt.load(key)
    expect(accepted.has('default', 'c1')).toBe(true)
    expect(accepted.has('default', 'c2')).toBe(false)
    expect(accepted.has('cheap', 'c1')).toBe(false)
    await vi.advanceTimersByTimeAsync(dayMs - 2_000)
    expect(accepted.has('default', 'c1')).toBe(true)
    await vi.advanceTimersByTimeAsync(2_000)
    expect(accepted.has('default', 'c1')).toBe(false)
  })

  // With the key that Foldgate holds in its place: the next one may well be refused.
  test('is so with the held key that it was accepted with, in the next process too', async () => {
    const { store } = sharedStore()
    let mark = 'first'
    const one = replicaOn(store, () => mark)
    await one.learns(({ accepted }) => accepted.note('default', 'c1'))
    mark = 'second'
    expect(one.memory.accepted.has('default', 'c1')).toBe(false)
    const next = replicaOn(store, () => 'second')
    await next.learnt.load(key)
    expect(next.memory.accepted.has('default', 'c1')).toBe(false)
    const same = replicaOn(store, () => 'first')
    await same.learnt.load(key)
    expect(same.memory.accepted.has('default', 'c1')).toBe(true)
  })

  test('is renewed by answers, but not written for each of them', async () => {
    const { store, writes } = sharedStore()
    const one = replicaOn(store)
    for (let hours = 0; hours < 40; hours += 1) {
      await one.learns(({ accepted }) => accepted.note('default', 'c1'))
      await vi.advanceTimersByTimeAsync(60 * minuteMs)
    }
    expect(one.memory.accepted.has('default', 'c1')).toBe(true)
    expect(writes()).toBeLessThan(8)
  })
})

describe('a placement', () => {
  test('that is restored ends when it would have ended', async () => {
    const { store } = sharedStore()
    await replicaOn(store).learns(({ rememberPlacement }) => rememberPlacement(key, 'original'))
    const next = replicaOn(store)
    await next.learnt.load(key)
    expect(next.memory.placementOf(key)).toBe('original')
    await vi.advanceTimersByTimeAsync(10 * minuteMs)
    expect(next.memory.placementOf(key)).toBeNull()
  })
})
