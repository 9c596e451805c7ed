import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import {
  createSummaryWriter,
  type SummaryWriter,
  type SummaryJob,
} from '../../src/summaries/summary-writer.ts'
import { failure } from '../../src/summaries/summary-record.ts'
import type { SummaryResult } from '../../src/summaries/order.ts'
import { openMemoryStore } from '../../src/stores/memory-store.ts'
import type { Store } from '../../src/stores/store.ts'

const spent = {
  calls: 1,
  promptTokens: 10,
  completionTokens: 5,
  cachedTokens: 0,
  cacheWrittenTokens: 0,
  sentTokens: 10,
  learntWindowTokens: null,
}

function written(text: string): SummaryResult {
  return { kind: 'written', text, tokens: 3, ...spent }
}

const writeLate = async (): Promise<SummaryResult> => written('late')

/** A summary writer whose defects fail the test. */
function writerBefore(store: Store): SummaryWriter {
  const summaries = createSummaryWriter({
    store,
    guarded: (_, work) => work(),
    onWritten: () => {},
    onDefect: (error) => {
      throw error
    },
  })
  onTestFinished(summaries.close)
  return summaries
}

function jobOf(more: Partial<SummaryJob> & Pick<SummaryJob, 'write'>): SummaryJob {
  return {
    key: 'summary:a',
    conversation: 'a',
    wantedAtMs: performance.now(),
    model: 'cheap',
    upstream: 'default',
    scope: 'scope',
    concurrent: 2,
    heldBytes: 1000,
    mayBegin: () => true,
    ...more,
  }
}

/** A model that has been asked and does not answer until the call is broken off, or `answer` is called. */
function slowModel(text: string) {
  const asked = Promise.withResolvers<void>()
  const answered = Promise.withResolvers<SummaryResult>()
  const write = (signal: AbortSignal): Promise<SummaryResult> => {
    asked.resolve()
    signal.addEventListener('abort', () => answered.resolve({ ...failure('cancelled'), ...spent }))
    return answered.promise
  }
  return { write, asked: asked.promise, answer: () => answered.resolve(written(text)) }
}

const memory = () => openMemoryStore({ bytesMax: 1_000_000, lifetimeMs: 0 })

test('what is being written for a forgotten conversation is broken off; others go on', async () => {
  const store = memory()
  const summaries = writerBefore(store)
  const [mine, other] = [slowModel('mine'), slowModel('other')]
  const outcome = summaries.obtain(jobOf({ write: mine.write }))
  const kept = summaries.obtain(jobOf({ key: 'summary:b', conversation: 'b', write: other.write }))
  await Promise.all([mine.asked, other.asked])
  expect(await summaries.forget('a')).toBe(true)
  expect(await outcome).toBeNull()
  expect(summaries.isPending('summary:a')).toBe(false)
  expect(await store.getFirst(['summary:a'])).toBeNull()
  other.answer()
  expect(await kept).toEqual({ kind: 'written', text: 'other', tokens: 3 })
})

test('one that is complete all the same is in the store when forgetting is over, to be deleted with the rest', async () => {
  const store = memory()
  const summaries = writerBefore(store)
  const model = slowModel('complete')
  const outcome = summaries.obtain(jobOf({ write: model.write }))
  await model.asked
  model.answer()
  await summaries.forget('a')
  await store.deleteGroup('a')
  await outcome
  expect(await summaries.find(['summary:a'])).toBeNull()
})

test('a request of before the forgetting gets no summary any more, a later one does', async () => {
  const summaries = writerBefore(memory())
  const wantedAtMs = performance.now()
  expect(await summaries.forget('a')).toBe(false)
  expect(await summaries.obtain(jobOf({ wantedAtMs, write: writeLate }))).toBeNull()
  expect(
    await summaries.obtain(jobOf({ wantedAtMs, key: 'summary:b', conversation: 'b', write: writeLate })),
  ).not.toBeNull()
  await sleep(2)
  expect(await summaries.obtain(jobOf({ write: writeLate }))).toEqual({
    kind: 'written',
    text: 'late',
    tokens: 3,
  })
})

test('what a process remembers without its store is forgotten as well', async () => {
  const store: Store = {
    ...memory(),
    getFirst: async () => null,
    putIfAbsent: async (_, value) => value,
  }
  const summaries = writerBefore(store)
  await summaries.obtain(jobOf({ write: async () => written('paid for') }))
  await summaries.obtain(
    jobOf({ key: 'summary:b', conversation: 'b', write: async () => written('another') }),
  )
  expect(await summaries.find(['summary:a'])).not.toBeNull()
  expect(await summaries.forget('a')).toBe(true)
  expect(await summaries.find(['summary:a'])).toBeNull()
  expect(await summaries.find(['summary:b'])).not.toBeNull()
  expect(await summaries.forget('a')).toBe(false)
})
