import { expect, test } from 'vitest'
import { createFailureLog, createFailures } from '../../src/telemetry/failures.ts'
import { arrivalNow } from '../../src/pipeline/bare-report.ts'
import { FoldgateError } from '../../src/errors.ts'
import { createReports, type Listener } from '../../src/telemetry/request-report.ts'
import { createLog } from '../../src/telemetry/log/log.ts'
import type { Tracing } from '../../src/telemetry/tracing/tracing.ts'
import type { Store } from '../../src/storage/store.ts'
import { namedProfile } from '../support/profiles.ts'
import { adminStand } from '../admin/admin-stand.ts'
import { memoryStore } from '../admin/memory.ts'
import { longRun } from '../support/conversations.ts'
import { completion, silence } from '../support/fake-upstream.ts'
import { chatOf, postChat } from '../support/post-chat.ts'
import { endOf, reportOf, summaryCall, writtenSummary } from './told-request.ts'
import { reportStand, type ReportStand } from './report/report-stand.ts'

/** A failure log at a clock that stands, and what it has told. */
function failureLog() {
  const told: string[] = []
  const clock = { nowMs: 1_000_000 }
  const write = (line: string) => void told.push(line)
  const log = createLog({ level: 'info', write, pretty: false, now: () => new Date(clock.nowMs) })
  return { told, clock, tell: createFailureLog(log, 'redis://redis:6379', () => clock.nowMs) }
}

/** One that hears of all that there is. */
const listenerOf = (hear: (what: string) => void): Required<Listener> => ({
  begun: () => hear('begun'),
  ended: () => hear('ended'),
  relayed: () => hear('relayed'),
  turnedAway: () => hear('turned away'),
  summary: () => hear('summary'),
})

// A Redis that had become read-only failed the writes of every request, while its reads went well: a line for each.
test('the same failure again and again is one line every ten seconds, which says how often it was', () => {
  const { told, clock, tell } = failureLog()
  const refused = new Error('READONLY You cannot write against a read only replica: PLANTED')
  for (let time = 0; time < 100; time += 1) tell('store', refused)
  expect(told).toHaveLength(1)
  expect(told[0]).toContain('"reason":"READONLY"')
  clock.nowMs += 10_000
  tell('store', refused)
  expect(told).toHaveLength(2)
  expect(told[1]).toContain('"times":100')
  // Another one is told at once.
  tell('compaction', new Error('PLANTED'))
  tell('store', Object.assign(new Error('PLANTED'), { errstr: 'database or disk is full' }))
  expect(told).toHaveLength(4)
  expect(told[3]).toContain('"reason":"database or disk is full"')
  expect(told.join('')).not.toContain('PLANTED')
})

// The journal is told of failures and asks the clock: where that failed, the request failed with it.
test('a listener that fails harms no request; the failure is counted all the same', async () => {
  const failed: string[] = []
  const failures = createFailures((part) => {
    failed.push(part)
    failing()
  })
  expect(failures.attempt('measure', 'instead', failing)).toBe('instead')
  expect(await failures.around('store', 'instead', async () => failing())).toBe('instead')
  failures.note('summary', new Error('it failed'))
  expect(failed).toEqual(['measure', 'store', 'summary'])
})

// What became of a summary, or of a request that was turned away, was told to one after the other: behind one that failed nobody
// heard of it.
test('a listener that fails keeps nothing from the others, whatever is told', () => {
  const failed: string[] = []
  const heard: string[] = []
  const failures = createFailures((part) => void failed.push(part))
  const hears = listenerOf((what) => void heard.push(what))
  const reports = createReports([listenerOf(failing), {}, hears], failures)
  reports.begin(reportOf(), null)
  reports.end(reportOf(), endOf())
  reports.relayed('other', 'left', null)
  reports.turnedAway(new FoldgateError('client_key_required', 'None was sent.'))
  reports.summary(summaryCall(), writtenSummary())
  expect(heard).toEqual(['begun', 'ended', 'relayed', 'turned away', 'summary'])
  expect(failed).toEqual(heard.map(() => 'observation'))
})

// For a while the clock was read unprotected: one that threw ended the request that asked for the time.
test('a clock that fails costs a report its time, and is counted', () => {
  const failed: string[] = []
  const failures = createFailures((part) => failed.push(part))
  expect(arrivalNow({ failures, nowMs: noTime })).toEqual({
    time: '1970-01-01T00:00:00.000Z',
    monotonicMs: expect.any(Number),
  })
  expect(failed).toEqual(['observation'])
})

function noTime(): number {
  throw new RangeError('no time')
}

function failing(): never {
  throw new Error('PLANTED')
}

const failingTracing: Tracing = { begun: failing, ended: failing, summary: () => {}, close: async () => {} }

const unobserved = async (at: ReportStand): Promise<number> =>
  (await at.metrics()).sum('foldgate_failures_total', { part: 'observation' })

// Whoever watches must not harm what is watched (P2).
test('a report that throws when it begins and when it has ended harms no request', async () => {
  const profile = { window: { tokens: 6_000, output_reserve: 1_000 } }
  await using at = await reportStand(completion('fine'), { tracing: failingTracing, profile })
  for (let round = 1; round <= 2; round += 1) {
    const reply = await postChat(at.url, chatOf(longRun(14, 2), { model: 'gpt-4o' }))
    expect([reply.status, reply.action]).toEqual([200, 'compacted'])
    expect(reply.text).toContain('fine')
  }
  expect((await at.metrics()).sum('foldgate_requests_total', { action: 'compacted' })).toBe(2)
  await expect.poll(() => unobserved(at)).toBe(4)
  // The event names the part, and nothing that was said.
  const told = (await at.events()).filter(({ type }) => type === 'failure')
  expect(told).toMatchObject([{ reason: 'observation', details: { times: 1 } }])
  expect(JSON.stringify(told)).not.toContain('PLANTED')
})

test('and none that is refused, left or bypassed', async () => {
  await using at = await reportStand([completion('fine'), silence], { tracing: failingTracing })
  const body = chatOf([{ role: 'user', content: 'hello' }])
  expect((await postChat(at.url, body, { 'x-foldgate-bypass': '1' })).status).toBe(200)
  expect((await postChat(at.url, body, { 'x-foldgate-profile': 'nobody' })).status).toBe(400)
  const leaving = new AbortController()
  const asked = postChat(at.url, body, {}, leaving.signal).catch(() => null)
  await expect.poll(() => at.upstream.requests.length).toBe(2)
  leaving.abort()
  await asked
  await expect.poll(() => unobserved(at)).toBe(6)
})

// A defect in telling turned an answer of 200 into an error of our own: the answer is there, whatever is told of it.
test('an answer that nothing can be told of is given all the same', async () => {
  // Half a character, which no header can spell.
  const profiles = new Map([['default', namedProfile('broken \ud800')]])
  await using at = await adminStand({ profiles })
  const reply = await postChat(at.url, chatOf([{ role: 'user', content: 'hello' }]))
  expect([reply.status, reply.header('x-foldgate-attempts')]).toEqual([200, '1'])
  expect(at.foldgate.log.join('')).toContain('"part":"observation"')
})

// Somebody who looked at the page while the store was slow to read its journal kept all requests from their records for
// ten seconds: one miss of the deadline means that a store is absent, and both had the same guard.
test('a journal that cannot be read keeps no request from its records', async () => {
  let asked = 0
  const inner = memoryStore()
  const store: Store = {
    ...inner,
    readRows: () => new Promise(() => {}),
    getFirst: (keys) => {
      asked += 1
      return inner.getFirst(keys)
    },
  }
  await using at = await adminStand({ store })
  const conversation = await at.say('hello')
  await at.ask('/conversations')
  const before = asked
  expect(await at.say('hello')).toBe(conversation)
  expect(asked).toBeGreaterThan(before)
})
