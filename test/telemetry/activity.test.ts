import { describe, expect, onTestFinished, test } from 'vitest'
import { endedRow, openActivity } from '../../src/telemetry/activity.ts'
import { journalEventSchema, usageRowSchema } from '../../src/telemetry/journal/rows.ts'
import { parseJsonText } from '../../src/json/json-value.ts'
import { FoldgateError } from '../../src/errors.ts'
import { keptLog } from '../support/kept-log.ts'
import type { JournalName } from '../../src/storage/store.ts'
import { memoryStore } from '../admin/memory.ts'
import { beganMs, endOf, reportOf, summaryCall, writtenSummary } from './told-request.ts'

function open() {
  const changed: (string | null)[] = []
  const { log, lines } = keptLog()
  let nowMs = beganMs
  const store = memoryStore()
  const activity = openActivity({
    settings: {
      upstreams: new Map(),
      profiles: '/profiles',
      admin: { metrics_models: [], show_content: false },
      prices: { 'gpt-5-2026*': { input: 10, cached_input: 1, cache_written_input: null, output: 100 } },
    },
    store,
    storeTrouble: null,
    log,
    version: '1.2.3',
    nowMs: () => nowMs,
    tracing: null,
  })
  onTestFinished(activity.close)
  activity.signals.on('change', (conversation) => changed.push(conversation))
  async function written(name: JournalName): Promise<readonly unknown[]> {
    await activity.journal.flush()
    const rows = await store.readRows(name, { from: 'oldest', beyond: null, limit: 100 })
    return rows.map(({ text }) => parseJsonText(text))
  }
  return {
    ...activity,
    changed,
    log: lines,
    events: async () => (await written('events')).map((row) => journalEventSchema.parse(row)),
    rows: async () => (await written('usage')).map((row) => usageRowSchema.parse(row)),
    card: async () => (await activity.conversations.list()).find(({ id }) => id === 'c0ffee'),
    pass: (milliseconds: number) => (nowMs += milliseconds),
  }
}

describe('a request', () => {
  test('for a model without a price costs what the one that answered costs', async () => {
    const { reports, rows } = open()
    for (const answeredBy of ['gpt-5-2026-08-07', 'unpriced', null])
      reports.end(reportOf({ model: 'alias' }), endOf({ answeredBy }))
    const costs = (await rows()).map((row) => row.prompt_cost)
    // Of 50,100 tokens 40,000 came from the cache.
    expect(costs[0]).toBeCloseTo(0.141, 10)
    expect(costs.slice(1)).toEqual([null, null])
  })
})

// A client whose system text changes with each request loses the cache each time: one line of a page of events is enough.
test('why a prompt was not cached is in its row, and an event now and then, unless a compaction explains it', async () => {
  const { reports, events, rows, pass } = open()
  const missing = (cacheMiss: 'system' | 'messages', compaction: string | null) =>
    reports.end(reportOf({ compaction }), endOf({ cacheMiss }))
  missing('messages', 'trigger')
  missing('system', 'trigger')
  missing('messages', null)
  missing('messages', null)
  pass(600_000)
  missing('messages', null)
  const reasons = ['messages', 'system', 'messages', 'messages', 'messages']
  expect((await rows()).map((row) => row.cache_miss)).toEqual(reasons)
  const told = (await events()).filter(({ type }) => type === 'cache-missed')
  expect(told.map(({ reason, conversation, details }) => [reason, conversation, details['times']])).toEqual([
    ['system', 'c0ffee', 1],
    ['messages', 'c0ffee', 1],
    ['messages', 'c0ffee', 2],
  ])
})

describe('the row of a request that has ended', () => {
  const noCosts = { sent: null, whole: null }

  test('names the model that answered if it is another, no longer than a name is', () => {
    const report = reportOf({ model: 'gpt-5' })
    expect(endedRow(report, endOf({ answeredBy: 'gpt-5' }), noCosts, 'here').answered_by).toBeNull()
    const row = endedRow(report, endOf({ answeredBy: 'x'.repeat(100_000) }), noCosts, 'here')
    expect(usageRowSchema.parse(row).answered_by).toHaveLength(512)
  })
})

describe('what else happens', () => {
  test('a summary: with its cost, without its text', async () => {
    const { reports, events, changed, log, conversations } = open()
    const model = 'gpt-5-2026-08-07'
    const call = summaryCall({ name: 'name-of-it', model, milliseconds: 12.3 })
    const uncached = { cachedTokens: 0, cacheWrittenTokens: 0 }
    reports.summary(call, writtenSummary({ promptTokens: 10_000, ...uncached, completionTokens: 1_000 }))
    const told = await events()
    const named = { type: 'summary', conversation: 'c0ffee', summary_key: 'name-of-it' }
    expect(told).toMatchObject([{ ...named, milliseconds: 12, details: { cost: 0.2 } }])
    expect(conversations.totals()).toMatchObject({ summary_tokens: 11_000, summary_money: 0.2 })
    expect(changed).toEqual(['c0ffee'])
    expect(log.join()).toContain('a summary was written')
    expect(JSON.stringify(told) + log.join()).not.toContain('PLANTED')
  })

  // A client without a key could drive everything else out of the journal, by asking again and again.
  test('requests that are turned away: the first at once, then how many, now and then', async () => {
    const { reports, events, pass } = open()
    const refuse = () => reports.turnedAway(new FoldgateError('client_key_required', 'No.'))
    for (let time = 0; time < 1_000; time += 1) refuse()
    reports.turnedAway(new FoldgateError('path_not_allowed', 'No.'))
    pass(10_000)
    refuse()
    expect((await events()).map(({ reason, details }) => [reason, details['times']])).toEqual([
      ['client_key_required', 1],
      ['path_not_allowed', 1],
      ['client_key_required', 1_000],
    ])
  })
})
