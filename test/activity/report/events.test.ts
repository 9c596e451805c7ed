import { describe, expect, test } from 'vitest'
import type { StoredEvent } from '../../../src/activity/journal/journal.ts'
import { withCheapSummaries, cheapUpstream } from '../../support/cheap-summaries.ts'
import { newestWithin, ollama, reporting } from '../../support/counting-server.ts'
import { growing, longRun, type TestMessage } from '../../support/conversations.ts'
import { eventually } from '../../support/eventually.ts'
import { completion, json, overflow } from '../../support/fake-upstream.ts'
import { startSummaryModel } from '../../support/summary-model.ts'
import { chatOf, postChat, rawMessages } from '../../support/post-chat.ts'
import { reportStand, type ReportStand } from './report-stand.ts'

const model = { model: 'gpt-4o' }
const window = { window: { tokens: 16_000 } }
const run = longRun(40, 2)

const ofType = (events: readonly StoredEvent[], type: StoredEvent['type']) =>
  events.filter((event) => event.type === type)

/** Every request of a conversation, one after the other. */
async function walk(at: ReportStand, messages: readonly TestMessage[], pause = async () => {}) {
  for (const some of growing(messages)) {
    await postChat(at.url, chatOf(some, model))
    await pause()
  }
}

describe.concurrent('an event of a compaction', () => {
  test('says why, which passes treat which messages, and what that came to', async () => {
    await using at = await reportStand(completion('fine'), { profile: window })
    await walk(at, run)
    const requests = at.upstream.requests.map(rawMessages)
    const compactions = ofType(await at.events(), 'compaction')
    expect(compactions.length).toBeGreaterThan(1)
    const rows = (await at.rows(requests.length)).filter(({ compaction }) => compaction !== null)
    expect(compactions).toHaveLength(rows.length)
    for (const [number, event] of compactions.entries()) {
      const row = rows[number]
      expect(event).toMatchObject({
        reason: 'trigger',
        conversation: row?.conversation,
        profile: 'default',
        model: 'gpt-4o',
        passes: row?.passes,
        tokens_after: row?.tokens_sent,
        summary_key: null,
      })
      expect(event.tokens_before).toBeGreaterThan(event.tokens_after ?? Infinity)
      expect(event.milliseconds).toBeLessThan(30_000)
      expect(event.ranges.length).toBeGreaterThan(0)
      for (const { pass, start, end } of event.ranges) {
        expect(['render', 'preview', 'clear', 'fold', 'clip']).toContain(pass)
        expect(start).toBeGreaterThanOrEqual(1)
        expect(end).toBeLessThanOrEqual(row?.messages_received ?? 0)
        expect(end).toBeGreaterThan(start)
      }
      // What is in effect reaches somewhere; what reaches somewhere may have met nothing to treat.
      expect(event.ranges.map(({ pass }) => pass)).toEqual(expect.arrayContaining(event.passes))
    }
    // The first compaction was made of the whole conversation.
    expect(compactions[0]?.tokens_before).toBe(rows[0]?.tokens_received)
  })

  test('forced: that somebody asked for it', async () => {
    await using at = await reportStand(completion('fine'), { profile: window })
    await postChat(at.url, chatOf(run.slice(0, 12), model), { 'x-foldgate-compact': 'force' })
    expect(ofType(await at.events(), 'compaction')).toMatchObject([{ reason: 'forced' }])
  })

  test('has the name of its summary, which is that of the event when it was written', async () => {
    await using summaries = await startSummaryModel()
    await using at = await reportStand(reporting(newestWithin(1_000_000)), {
      profile: withCheapSummaries({ ...window, clear: { enabled: false } }),
      upstreams: cheapUpstream(summaries),
    })
    await walk(at, run, summaries.quiet)
    // The journal is written behind the metrics, on a busy machine far behind them.
    const { told, written } = await eventually(async () => {
      const events = await at.events()
      const ofSummaries = ofType(events, 'summary').filter(({ reason }) => reason === 'written')
      const metrics = await at.metrics()
      expect(metrics.sum('foldgate_summary_calls_total', { outcome: 'written' })).toBe(ofSummaries.length)
      return { told: events, written: ofSummaries }
    })
    const compactions = ofType(told, 'compaction').filter((event) => event.summary_key !== null)
    expect(compactions.length).toBeGreaterThan(0)
    const names = new Set(written.map((event) => event.summary_key))
    for (const { summary_key: name } of compactions) expect(names).toContain(name)
    for (const event of written) {
      expect(event).toMatchObject({
        conversation: compactions[0]?.conversation,
        details: { calls: expect.any(Number), prompt_tokens: expect.any(Number) },
      })
      expect(event.tokens_after).toBeGreaterThan(0)
    }
  })
})

describe.concurrent('an event of a summary that failed', () => {
  test('says what it failed for', async () => {
    await using summaries = await startSummaryModel({ quality: 'empty' })
    await using at = await reportStand(completion('fine'), {
      profile: withCheapSummaries(window),
      upstreams: cheapUpstream(summaries),
    })
    await walk(at, run, summaries.quiet)
    const failed = ofType(await at.events(), 'summary')
    expect(failed[0]).toMatchObject({ reason: 'empty', tokens_after: null, details: { calls: 1 } })
    // After some of them no more is spent on this conversation.
    for (const { reason } of failed) expect(['empty', 'too-dear']).toContain(reason)
  })
})

describe.concurrent('an event of a refusal', () => {
  test.each([
    [429, 'Rate limit reached', 'rate'],
    [401, 'Incorrect API key provided', 'denied'],
    [400, 'What is this?', 'other'],
    [503, 'Busy', 'other'],
  ])('with status %i says its class', async (status, message, reason) => {
    await using at = await reportStand(json({ error: { message } }, status))
    await postChat(at.url, chatOf(run.slice(0, 2)))
    expect(await at.events()).toMatchObject([
      { type: 'refusal', reason, details: { status, attempts: 1, upstream: 'default' } },
    ])
    expect((await at.row()).status).toBe(status)
  })
})

describe.concurrent('an event of a window', () => {
  test('is told when a refusal states one, and not again when it states the same', async () => {
    await using at = await reportStand([
      overflow(8_192, 12_500),
      completion('fine'),
      overflow(8_192, 12_500),
      completion('fine'),
    ])
    await postChat(at.url, chatOf(longRun(14, 2)))
    await postChat(at.url, chatOf(longRun(13, 9)))
    expect(at.upstream.requests.length).toBeGreaterThan(2)
    expect(ofType(await at.events(), 'window')).toMatchObject([
      {
        reason: 'refusal',
        model: 'test-model',
        conversation: null,
        details: { window_tokens: 8_192, kind: 'total', upstream: 'default' },
      },
    ])
  })

  test('of a refusal without numbers is told of this conversation', async () => {
    const unstated = json(
      { error: { message: 'The prompt is too long.', code: 'context_length_exceeded' } },
      400,
    )
    await using at = await reportStand([unstated, completion('fine')])
    const reply = await postChat(at.url, chatOf(longRun(14, 2)))
    expect(reply.action).toBe('recovered')
    const [told, ...others] = ofType(await at.events(), 'window')
    expect(others).toEqual([])
    expect(told).toMatchObject({
      reason: 'unstated',
      conversation: reply.header('x-foldgate-conversation'),
    })
  })

  test('that cut prompts gave away is told, and told again only where they say more', async () => {
    await using at = await reportStand(ollama(newestWithin(4_096)), {
      profile: { trigger: 'off' },
    })
    await walk(at, longRun(40, 3))
    const told = ofType(await at.events(), 'window')
    expect(new Set(told.map(({ reason }) => reason))).toEqual(new Set(['cut']))
    const windows = told.map(({ details }) => details['window_tokens'])
    expect(new Set(windows).size).toBe(windows.length)
    expect(windows[0]).toBeLessThanOrEqual(4_096)
  })
})

describe.concurrent('an event of a failure', () => {
  test('names the part, and nothing that was said', async () => {
    await using at = await reportStand(completion('fine'), {
      tracing: {
        ended: () => {
          throw new Error('PLANTED-CONTENT')
        },
        summary: () => {},
        close: async () => {},
      },
    })
    await postChat(at.url, chatOf(run.slice(0, 2)))
    const [told] = ofType(await at.events(), 'failure')
    expect(told).toMatchObject({ reason: 'observation', details: { times: 1 } })
    expect(JSON.stringify(await at.events())).not.toContain('PLANTED-CONTENT')
  })
})

test.concurrent('no event and no row holds anything that a conversation says', async () => {
  const planted = { role: 'user', content: 'PLANTED-CONTENT '.repeat(200) }
  await using at = await reportStand([overflow(8_192, 12_500), completion('PLANTED-ANSWER')])
  await postChat(at.url, chatOf([planted, ...longRun(14, 2)]))
  await at.rows(1)
  for (const journal of ['events', 'usage', 'totals'] as const) {
    const rows = await at.store.readRows(journal, { from: 'oldest', beyond: null, limit: 100 })
    expect(rows.map(({ text }) => text).join('\n')).not.toContain('PLANTED')
  }
})
