import { expect, test } from 'vitest'
import type { JournalEvent } from '../../../src/telemetry/journal/rows.ts'
import { cheapUpstream, withCheapSummaries, startSummaryModel } from '../../support/summary-model.ts'
import { growing, longRun, type TestMessage } from '../../support/conversations.ts'
import { newestWithin, ollama, reporting } from '../../support/counting-server.ts'
import { completion } from '../../support/fake-upstream.ts'
import { chatOf, postChat } from '../../support/post-chat.ts'
import { reportStand, type ReportStand } from './report-stand.ts'

const model = { model: 'gpt-4o' }
const window = { window: { tokens: 4_000, output_reserve: 500 } }
const run = longRun(12, 2)

const ofType = (events: readonly JournalEvent[], type: JournalEvent['type']) =>
  events.filter((event) => event.type === type)

/** Every request of a conversation, one after the other. */
async function walk(at: ReportStand, messages: readonly TestMessage[], pause = async () => {}) {
  for (const some of growing(messages)) {
    await postChat(at.url, chatOf(some, model))
    await pause()
  }
}

test('an event of a compaction says why, which passes treat which messages, and what that came to', async () => {
  await using at = await reportStand(completion('fine'), { profile: window })
  await walk(at, run)
  const rows = await at.rows(at.upstream.requests.length)
  const compacted = rows.filter(({ compaction }) => compaction !== null)
  const whole = [...growing(run)][rows.indexOf(compacted[0] ?? expect.fail()) - 1] ?? expect.fail()
  const other = { authorization: 'Bearer another-key', 'x-foldgate-compact': 'force' }
  await postChat(at.url, chatOf(whole, model), other)
  const told = ofType(await at.events(), 'compaction')
  const compactions = told.slice(0, -1)
  expect(told.at(-1)).toMatchObject({ reason: 'forced' })
  expect(compactions.length).toBeGreaterThan(1)
  expect(compactions).toHaveLength(compacted.length)
  for (const [number, event] of compactions.entries()) {
    const row = compacted[number]
    const own = { conversation: row?.conversation, passes: row?.passes, tokens_after: row?.tokens_sent }
    const named = { reason: 'trigger', profile: 'default', model: 'gpt-4o', summary_key: null }
    expect(event).toMatchObject({ ...named, ...own })
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
  expect(compactions[0]?.tokens_before).toBe(compacted[0]?.tokens_received)
})

test('an event of a compaction has the name of its summary, which is that of the event when it was written', async () => {
  await using summaries = await startSummaryModel()
  await using at = await reportStand(reporting(newestWithin(1_000_000)), {
    profile: withCheapSummaries({ ...window, clear: { enabled: false } }),
    upstreams: cheapUpstream(summaries),
  })
  await walk(at, run, summaries.quiet)
  const told = await at.events()
  const written = ofType(told, 'summary').filter(({ reason }) => reason === 'written')
  const counted = (await at.metrics()).sum('foldgate_summary_calls_total', { outcome: 'written' })
  expect(written).toHaveLength(counted)
  const compactions = ofType(told, 'compaction').filter((event) => event.summary_key !== null)
  expect(compactions.length).toBeGreaterThan(0)
  const names = written.map((event) => event.summary_key)
  for (const { summary_key: name } of compactions) expect(names).toContain(name)
  const details = { calls: expect.any(Number), prompt_tokens: expect.any(Number) }
  for (const event of written) {
    expect(event).toMatchObject({ conversation: compactions[0]?.conversation, details })
    expect(event.tokens_after).toBeGreaterThan(0)
  }
})

test('an event of a summary that failed says what it failed for', async () => {
  await using summaries = await startSummaryModel({ quality: 'empty' })
  await using at = await reportStand(completion('fine'), {
    profile: withCheapSummaries({ ...window, clear: { enabled: false } }),
    upstreams: cheapUpstream(summaries),
  })
  await walk(at, run, summaries.quiet)
  const failed = ofType(await at.events(), 'summary')
  expect(failed[0]).toMatchObject({ reason: 'empty', tokens_after: null, details: { calls: 1 } })
  // After some of them no more is spent on this conversation. The end of Foldgate breaks off one that is being written.
  for (const { reason } of failed) expect(['empty', 'too-dear', 'cancelled']).toContain(reason)
})

test('a window that cut prompts gave away is told, and told again only where they say more', async () => {
  await using at = await reportStand(ollama(newestWithin(4_096)), { profile: { trigger: 'off' } })
  await walk(at, longRun(16, 3))
  const told = ofType(await at.events(), 'window')
  expect(new Set(told.map(({ reason }) => reason))).toEqual(new Set(['cut']))
  const windows = told.map(({ details }) => details['window_tokens'])
  expect(new Set(windows).size).toBe(windows.length)
  expect(windows[0]).toBeLessThanOrEqual(4_096)
})
