import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createAheadRecords } from '../../src/summaries/ahead-records.ts'
import { createRateLimits } from '../../src/summaries/rate-limits.ts'
import { openMemoryStore } from '../../src/storage/memory-store.ts'
import type { Store } from '../../src/storage/store.ts'
import {
  createSummaryWriter,
  type SummaryWriter,
  type SummaryJob,
} from '../../src/summaries/summary-writer.ts'
import type { FailureReason } from '../../src/summaries/summary-record.ts'
import type { SummaryResult } from '../../src/summaries/summary-order.ts'
import { longRun } from '../support/conversations.ts'
import { eventually } from '../support/eventually.ts'
import { putValue } from '../support/put-value.ts'
import { historyOf } from '../support/subject.ts'

const nothingSpent = {
  calls: 1,
  promptTokens: 10,
  completionTokens: 1,
  cachedTokens: 0,
  cacheWrittenTokens: 0,
  sentTokens: 10,
  learntWindowTokens: null,
}

const summaryOf = (text: string): SummaryResult => ({ kind: 'written', text, tokens: 3, ...nothingSpent })
const failureOf = (reason: FailureReason): SummaryResult => ({
  kind: 'failed',
  reason,
  ...nothingSpent,
})
const recordOf = (text: string) => ({ kind: 'written', text, tokens: 3 })

/** A writer that is there at once. */
const writing = (text: string) => vi.fn<SummaryJob['write']>(async () => summaryOf(text))

const openStore = (): Store => openMemoryStore({ bytesMax: 1_000_000, lifetimeMs: 0 })

/** Whose leases last for hours, however short they are asked for. */
const lasting = (store: Store): Store => ({
  ...store,
  lease: (key, holder) => store.lease(key, holder, 3_600_000),
})

function writerOn(store: Store, leaseMs = 15_000) {
  const told: SummaryResult[] = []
  const defects: unknown[] = []
  const summaries = createSummaryWriter({
    store,
    guarded: async (instead, work) => {
      try {
        return await work()
      } catch {
        return instead
      }
    },
    onWritten: (_, written) => told.push(written),
    onDefect: (error) => defects.push(error),
    leaseMs,
  })
  onTestFinished(summaries.close)
  return { ...summaries, told, defects }
}

const jobOf = (write: SummaryJob['write'], more: Partial<SummaryJob> = {}): SummaryJob => ({
  key: 'summary:a',
  conversation: 'conversation',
  wantedAtMs: performance.now(),
  model: 'cheap',
  upstream: 'default',
  scope: 'a',
  concurrent: 2,
  heldBytes: 1000,
  mayBegin: () => true,
  write,
  ...more,
})

/** A writer that goes on until it is told to end, or is broken off. */
function writer(text = 'what was done') {
  const ended = Promise.withResolvers<void>()
  const write = vi.fn<SummaryJob['write']>(async (signal: AbortSignal): Promise<SummaryResult> => {
    const brokenOff = new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true })
    })
    await Promise.race([ended.promise, brokenOff])
    return signal.aborted ? failureOf('cancelled') : summaryOf(text)
  })
  return { write, end: () => ended.resolve() }
}

const settled = async (summaries: SummaryWriter, key = 'summary:a') =>
  eventually(() => expect(summaries.isPending(key)).toBe(false))

describe('a summary writer', () => {
  test('has one writer for a key, however many want it, and all of them get what it wrote', async () => {
    const summaries = writerOn(openStore())
    const { write, end } = writer()
    const all = Array.from({ length: 20 }, () => summaries.obtain(jobOf(write)))
    await eventually(() => expect(write).toHaveBeenCalled())
    expect(summaries.isPending('summary:a')).toBe(true)
    end()
    expect(await Promise.all(all)).toEqual(all.map(() => recordOf('what was done')))
    expect(write).toHaveBeenCalledTimes(1)
    expect(summaries.isPending('summary:a')).toBe(false)
    expect(await summaries.find(['none', 'summary:a'])).toEqual({
      index: 1,
      record: recordOf('what was done'),
    })
  })

  test('does not write again what is on record, a failure included, but what was only broken off or could not begin', async () => {
    const store = openStore()
    const summaries = writerOn(store)
    const write = writing('what was done')
    expect(await summaries.obtain(jobOf(write, { mayBegin: () => false }))).toBeNull()
    expect(await summaries.obtain(jobOf(async () => failureOf('cancelled')))).toBeNull()
    expect(write).not.toHaveBeenCalled()
    for (const each of [summaries, writerOn(store)])
      expect(await each.obtain(jobOf(write))).toEqual(recordOf('what was done'))
    for (const next of [async () => failureOf('empty'), write])
      expect(await summaries.obtain(jobOf(next, { key: 'summary:b' }))).toEqual({
        kind: 'failed',
        reason: 'empty',
      })
    expect(write).toHaveBeenCalledTimes(1)
    expect(summaries.told).toMatchObject([{ reason: 'cancelled' }, { kind: 'written' }, { reason: 'empty' }])
  })

  // It was called again by every request of the conversation, and whatever it had sent was sent and paid for again.
  test('tells of a writer that throws, which is a defect, and does not have it try again', async () => {
    const summaries = writerOn(openStore())
    const defect = new Error('a defect')
    const failed = { kind: 'failed', reason: 'defect' }
    expect(await summaries.obtain(jobOf(() => Promise.reject(defect)))).toEqual(failed)
    expect(summaries.defects).toEqual([defect])
    expect(await summaries.obtain(jobOf(writing('next')))).toEqual(failed)
    const other = jobOf(writing('other'), { key: 'summary:b' })
    expect(await summaries.obtain(other)).toEqual(recordOf('other'))
  })

  // Sixty-four conversations of 60 MB could wait for a model that hangs, long after their requests had given back their
  // share of `limits.bytes_in_flight_mb`.
  test('holds so many bytes of requests at a time, and one request whatever its size', async () => {
    const summaries = writerOn(openStore())
    const { write, end } = writer()
    const large = (key: string) => jobOf(write, { key, heldBytes: 100 * 1024 * 1024 })
    const first = summaries.obtain(large('summary:a'))
    const next = writing('next')
    expect(await summaries.obtain({ ...large('summary:b'), write: next })).toBeNull()
    expect(next).not.toHaveBeenCalled()
    const small = jobOf(next, { key: 'summary:c', scope: 'b' })
    expect(await summaries.obtain(small)).toEqual(recordOf('next'))
    end()
    expect(await first).toEqual(recordOf('what was done'))
    expect(await summaries.obtain({ ...large('summary:b'), heldBytes: 2 ** 30, write: next })).toEqual(
      recordOf('next'),
    )
  })

  test('lets more be written at a time as soon as a profile says so', async () => {
    const summaries = writerOn(openStore())
    const { write, end } = writer()
    const jobs = ['summary:a', 'summary:b'].map((key) =>
      summaries.obtain(jobOf(write, { key, concurrent: 1 })),
    )
    await eventually(() => expect(write).toHaveBeenCalledTimes(1))
    const third = await summaries.obtain(jobOf(writing('third'), { key: 'summary:c', concurrent: 2 }))
    expect(third).toEqual(recordOf('third'))
    end()
    await Promise.all(jobs)
  })

  test('takes a damaged record for none', async () => {
    const store = openStore()
    await putValue(store, 'summary:a', '{"kind":"written"')
    expect(await writerOn(store).find(['summary:a'])).toBeNull()
  })
})

// A tenant with a hundred agents filled the summaries, two of whose summaries were written at a time: for minutes nobody
// else got one.
test('a scope that wants many summaries leaves places to the others', async () => {
  const summaries = writerOn(openStore())
  const slow = writer()
  const many = Array.from({ length: 200 }, (_, index) =>
    summaries.obtain(jobOf(slow.write, { key: `summary:many:${index}`, scope: 'many' })),
  )
  for (const scope of ['b', 'c', 'd']) {
    const job = jobOf(async () => summaryOf(scope), { key: `summary:${scope}`, scope })
    expect(await summaries.obtain(job)).toEqual(recordOf(scope))
  }
  slow.end()
  const written = (await Promise.all(many)).filter((record) => record !== null)
  expect(written.length).toBeGreaterThan(20)
})

describe('two desks on one store', () => {
  test('have one writer whoever comes first, a hundred times over', async () => {
    const store = openStore()
    const desks = Array.from({ length: 5 }, () => writerOn(store))
    const write = writing('once')
    const all = Array.from({ length: 100 }, (_, index) =>
      (desks[index % 5] ?? writerOn(store)).obtain(jobOf(write)),
    )
    for (const record of await Promise.all(all)) expect(record).toEqual(recordOf('once'))
    expect(write).toHaveBeenCalledTimes(1)
  })

  test('who waits for another summaries keeps no place from those who could write', async () => {
    // Leases of hours: a place that was kept would not be free within this test.
    const store = lasting(openStore())
    const [one, waiting, third] = [writerOn(store), writerOn(store), writerOn(store)]
    const first = writer()
    const ones = one.obtain(jobOf(first.write))
    await eventually(() => expect(first.write).toHaveBeenCalled())
    const others = waiting.obtain(jobOf(writing('never')))
    const told = await third.obtain(jobOf(writing('of b'), { key: 'summary:b' }))
    expect(told).toEqual(recordOf('of b'))
    first.end()
    expect(await others).toEqual(await ones)
  })

  test('a writer that died is succeeded once its lease has run out', async () => {
    const store = openStore()
    // What a process leaves behind that was killed: its leases, and nobody who renews them.
    await store.lease('lease:summary:a', 'the dead', 60)
    await store.lease('slot:a:0', 'the dead', 60)
    const write = writing('by the successor')
    expect(await writerOn(store, 60).obtain(jobOf(write, { concurrent: 1 }))).toEqual(
      recordOf('by the successor'),
    )
    expect(write).toHaveBeenCalledTimes(1)
  })

  test('one that lives renews its lease, however long it takes, and nobody else begins', async () => {
    const store = lasting(openStore())
    const lease = vi.spyOn(store, 'lease')
    const [one, other] = [writerOn(store, 60), writerOn(store, 60)]
    const [first, second] = [writer(), writer()]
    const ones = one.obtain(jobOf(first.write))
    await eventually(() => expect(first.write).toHaveBeenCalled())
    const [, holder = ''] = lease.mock.calls[0] ?? []
    const others = other.obtain(jobOf(second.write))
    for (const key of ['lease:summary:a', 'slot:a:0'])
      await eventually(() => {
        const renewed = lease.mock.calls.filter(([of, by]) => of === key && by === holder)
        expect(renewed.length).toBeGreaterThan(4)
        expect(new Set(renewed.map(([, , leaseMs]) => leaseMs))).toEqual(new Set([60]))
      })
    expect(second.write).not.toHaveBeenCalled()
    first.end()
    expect(await ones).toEqual(await others)
  })

  test('a summary writer that closes breaks off what it writes, gives its leases back, and another finishes it', async () => {
    const store = openStore()
    const [one, other] = [writerOn(store), writerOn(store)]
    const first = writer()
    const ones = one.obtain(jobOf(first.write, { concurrent: 1 }))
    await eventually(() => expect(first.write).toHaveBeenCalled())
    const never = writing('never')
    const waiting = one.obtain(jobOf(never, { key: 'summary:waiting', concurrent: 1 }))
    const others = other.obtain(jobOf(writing('by the other'), { concurrent: 1 }))
    await one.close()
    expect([await ones, await waiting]).toEqual([null, null])
    expect(never).not.toHaveBeenCalled()
    // With a lease of fifteen seconds, which nobody waits for.
    expect(await others).toEqual(recordOf('by the other'))
    const tooLate = writing('late')
    expect(await one.obtain(jobOf(tooLate, { key: 'summary:late' }))).toBeNull()
    expect(tooLate).not.toHaveBeenCalled()
    expect(one.defects).toEqual([])
  })

  test('so many are written at a time for a scope, whichever summaries they are at', async () => {
    const store = openStore()
    const [one, other] = [writerOn(store), writerOn(store)]
    const writers = Array.from({ length: 6 }, () => writer())
    let inside = 0
    let insideMost = 0
    const all = writers.map(({ write, end }, index) => {
      const summaries = index % 2 === 0 ? one : other
      const counted: SummaryJob['write'] = async (signal) => {
        inside += 1
        insideMost = Math.max(insideMost, inside)
        setTimeout(end, 20)
        const written = await write(signal)
        inside -= 1
        return written
      }
      return summaries.obtain(jobOf(counted, { key: `summary:a:${index}` }))
    })
    expect(await Promise.all(all)).toHaveLength(6)
    expect(insideMost).toBe(2)
    expect(writers.map(({ write }) => write.mock.calls.length)).toEqual([1, 1, 1, 1, 1, 1])
  })
})

const fails = () => Promise.reject(new Error('the store is away'))

const brokenStore: Store = {
  name: 'broken:',
  getFirst: fails,
  putIfAbsent: fails,
  put: fails,
  appendRows: fails,
  readRows: fails,
  deleteGroup: fails,
  purge: fails,
  lease: fails,
  release: fails,
  close: async () => {},
}

test('a writer whose store fails writes all the same, once, and still knows what it has paid for', async () => {
  const summaries = writerOn(brokenStore)
  const write = writing('without a store')
  const all = await Promise.all([summaries.obtain(jobOf(write)), summaries.obtain(jobOf(write))])
  expect(all).toEqual([recordOf('without a store'), recordOf('without a store')])
  expect(await summaries.obtain(jobOf(write))).toEqual(recordOf('without a store'))
  expect(await summaries.find(['summary:a'])).toEqual({ index: 0, record: recordOf('without a store') })
  expect(write).toHaveBeenCalledTimes(1)
  await settled(summaries)
  expect(summaries.defects).toEqual([])
})

describe('a conversation that is forgotten', () => {
  test('has what is being written for it broken off; others go on', async () => {
    const store = openStore()
    const summaries = writerOn(store)
    const [mine, other] = [writer('mine'), writer('other')]
    const outcome = summaries.obtain(jobOf(mine.write))
    const kept = summaries.obtain(jobOf(other.write, { key: 'summary:b', conversation: 'b' }))
    await eventually(() => expect(other.write).toHaveBeenCalled())
    expect(await summaries.forget('conversation')).toBe(true)
    expect(await outcome).toBeNull()
    expect(summaries.isPending('summary:a')).toBe(false)
    expect(await store.getFirst(['summary:a'])).toBeNull()
    other.end()
    expect(await kept).toEqual(recordOf('other'))
    expect(summaries.defects).toEqual([])
  })

  test('has what is complete all the same in the store when forgetting is over, to be deleted with the rest', async () => {
    const store = openStore()
    const summaries = writerOn(store)
    const outcome = summaries.obtain(jobOf(writing('complete')))
    await summaries.forget('conversation')
    await store.deleteGroup('conversation')
    await outcome
    expect(await summaries.find(['summary:a'])).toBeNull()
  })

  test('gets no summary by a request of before any more, and one by a later request', async () => {
    const summaries = writerOn(openStore())
    const wantedAtMs = performance.now()
    expect(await summaries.forget('conversation')).toBe(false)
    expect(await summaries.obtain(jobOf(writing('late'), { wantedAtMs }))).toBeNull()
    const other = jobOf(writing('late'), { wantedAtMs, key: 'summary:b', conversation: 'b' })
    expect(await summaries.obtain(other)).toEqual(recordOf('late'))
    expect(await summaries.obtain(jobOf(writing('late'), { wantedAtMs: performance.now() + 1 }))).toEqual(
      recordOf('late'),
    )
  })

  test('is forgotten as well of what a process remembers without its store', async () => {
    const store = { ...openStore(), getFirst: async () => null }
    const summaries = writerOn({ ...store, putIfAbsent: async (_, value) => value })
    await summaries.obtain(jobOf(writing('paid for')))
    await summaries.obtain(jobOf(writing('another'), { key: 'summary:b', conversation: 'b' }))
    expect(await summaries.find(['summary:a'])).not.toBeNull()
    expect(await summaries.forget('conversation')).toBe(true)
    expect(await summaries.find(['summary:a'])).toBeNull()
    expect(await summaries.find(['summary:b'])).not.toBeNull()
    expect(await summaries.forget('conversation')).toBe(false)
  })
})

const place = { scope: 'a', profile: 'default', model: 'gpt' }
const fold = { frontier: 2, kept: [], ranges: [], systemTokensMax: 0 }

/** The beginning of a long conversation, with names for its prefixes. */
function conversationOf(all: readonly object[], length: number) {
  const { messages, structure } = historyOf(all.slice(0, length))
  const keys = Array.from({ length: length + 1 }, (_, index) => `key ${index}`)
  return { chat: { messages, structure, keys }, place, remembered: { conversation: 'conversation' } }
}

// After 256 requests it was not found any more: another summary was asked for, at another frontier.
test('a fold is found however many requests come before its compaction, by a few hundred keys at most', async () => {
  const store = openStore()
  const getFirst = vi.spyOn(store, 'getFirst')
  const ahead = createAheadRecords(store, (_, work) => work())
  const all = longRun(400, 1)
  const requests = historyOf(all).structure.recordPoints.filter((_, index) => index % 100 === 10)
  const [first = 0, ...later] = requests
  await ahead.keep(conversationOf(all, first), fold)
  expect(later.length).toBeGreaterThan(2)
  for (const length of later) expect(await ahead.find(conversationOf(all, length), 1)).toEqual(fold)
  for (const [keys] of getFirst.mock.calls) expect(keys.length).toBeLessThanOrEqual(256)
})

test('a fold of before the last compaction is not found', async () => {
  const store = openStore()
  const ahead = createAheadRecords(store, (_, work) => work())
  const all = longRun(100, 1)
  await ahead.keep(conversationOf(all, 19), fold)
  expect(await ahead.find(conversationOf(all, 60), 30)).toBeNull()
})

const payer = { upstream: 'default', credential: 'c1' }

// Summaries of an upstream whose key had been changed for a fresh one waited for the old one's limit to pass.
test('a limit is that of a credential, and of the key that Foldgate holds in its place', () => {
  let mark = 'first'
  const limits = createRateLimits(() => mark)
  limits.note({ upstream: 'default', credential: 'ada' }, 5_000)
  expect(limits.isLimited({ upstream: 'default', credential: 'ada' })).toBe(true)
  expect(limits.isLimited({ upstream: 'default', credential: 'ben' })).toBe(false)
  expect(limits.isLimited({ upstream: 'cheap', credential: 'ada' })).toBe(false)
  mark = 'second'
  expect(limits.isLimited({ upstream: 'default', credential: 'ada' })).toBe(false)
})

test('a limit ends in time, also one that asks for no time at all', async () => {
  const limits = createRateLimits(() => '')
  for (const retryAfterMs of [50, 0]) {
    limits.note(payer, retryAfterMs)
    await expect.poll(() => limits.isLimited(payer)).toBe(false)
  }
})
