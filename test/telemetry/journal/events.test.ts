import { modelKeyOf } from '../../../src/models/model-record.ts'
import { describe, expect, test } from 'vitest'
import { requestEvents, summaryEvent, windowEvent } from '../../../src/telemetry/journal/events.ts'
import {
  type BegunRow,
  eventOf,
  type JournalEvent,
  journalEventSchema,
} from '../../../src/telemetry/journal/rows.ts'
import type { CompactionReport, RequestReport } from '../../../src/telemetry/request-report.ts'
import { plainReport, reportOf, unmeasured, writtenSummary } from '../told-request.ts'
import { atSecond } from '../rows.ts'

const stamp = { time: atSecond(3), process: 'here' }

/** What a report comes to; whatever it is, it can be read back as it was. */
function eventsFor(report: RequestReport): readonly JournalEvent[] {
  const events = requestEvents(report).map((facts) => eventOf(facts, stamp.time, stamp.process))
  for (const event of events)
    expect(journalEventSchema.parse(JSON.parse(JSON.stringify(event)))).toEqual(event)
  return events
}

describe('a request', () => {
  test.each<[string, Partial<BegunRow>]>([
    ['sent as it came', { action: 'relayed' }],
    ['that goes on from a compaction of before', { action: 'compacted' }],
    ['that its client wants untouched', { action: 'bypassed' }],
    ['that failed open, which is told by itself', { action: 'failed-open', reason: 'measure' }],
    ['whose client left', { action: 'left', status: null }],
  ])('%s is no event', (_, other) => {
    expect(eventsFor(plainReport(other))).toEqual([])
  })

  test('that was compacted is told with what was done and why', () => {
    const compaction: CompactionReport = {
      reason: 'trigger',
      point: 80,
      passes: ['render', 'fold'],
      ranges: [{ pass: 'fold', start: 1, end: 60 }],
      isDerived: false,
      tokensBefore: 90_000,
      tokensAfter: 50_000,
      summaries: ['summary-1', 'summary-2'],
      treated: { cleared: 4, folded: 55, summary_tokens: 900, newest_kept: 20 },
      milliseconds: 12.6,
    }
    const { reason, passes, ranges, treated } = compaction
    expect(eventsFor(reportOf({}, { compactions: [compaction] }))).toEqual([
      {
        ...stamp,
        type: 'compaction',
        conversation: 'c0ffee',
        profile: 'default',
        model: 'gpt-5',
        tokens_before: 90_000,
        tokens_after: 50_000,
        summary_key: 'summary-1',
        milliseconds: 13,
        details: { ...treated, summaries: 'summary-1 summary-2' },
        reason,
        passes,
        ranges,
      },
    ])
  })

  test('that was refused as too long and went through is a recovery, behind the compactions that it took', () => {
    const events = eventsFor(reportOf({ action: 'recovered', attempts: 2 }))
    const details = { attempts: 2, upstream: 'default' }
    expect(events).toMatchObject([
      { type: 'compaction', reason: 'trigger' },
      { type: 'recovery', reason: 'recovered', tokens_before: 90_000, tokens_after: 50_000, details },
    ])
  })

  test.each<[string, Partial<BegunRow>, Partial<RequestReport>]>([
    ['recovery failed', { status: 400 }, { refusal: 'overflow' }],
    ['recovery failed', { status: 200 }, { refusal: 'overflow' }],
    ['refusal denied', { status: 401 }, {}],
    ['refusal rate', { status: 429 }, {}],
    ['refusal other', { status: 503 }, {}],
    ['error body_too_large', { action: 'refused', reason: 'body_too_large', status: 413 }, {}],
    ['restored original', { action: 'restored', reason: 'original' }, {}],
  ])('%s is told once of %j', (told, row, other) => {
    const events = eventsFor(plainReport(row, other))
    expect(events.map(({ type, reason }) => `${type} ${reason}`)).toEqual([told])
    if (row.status === 413) expect(events[0]?.details).toMatchObject({ status: 413 })
  })

  test('without a conversation or sizes is told all the same', () => {
    expect(eventsFor(plainReport({ ...unmeasured, conversation: null, status: 500 }))).toMatchObject([
      { conversation: null, tokens_before: null, tokens_after: null },
    ])
  })
})

describe('what Foldgate learns and meets', () => {
  test('a window', () => {
    const key = modelKeyOf('default', 'PLANTED-CREDENTIAL', 'gpt-5', 'http://upstream')
    const window = { tokens: 8_192, kind: 'total' } as const
    const event = windowEvent({ key, window, by: 'refusal', conversation: 'c0ffee' })
    const details = { window_tokens: 8_192, kind: 'total', upstream: 'default' }
    expect(event).toMatchObject({ type: 'window', model: 'gpt-5', reason: 'refusal', details })
    expect(JSON.stringify(event)).not.toContain('PLANTED')
  })

  test('a summary that was written, with what it took, and nothing of what it says', () => {
    const call = { conversation: 'c0ffee', name: 'summary-1', milliseconds: 40 }
    const event = summaryEvent(call, writtenSummary(), 0.5)
    expect(event).toMatchObject({
      type: 'summary',
      reason: 'written',
      summary_key: 'summary-1',
      tokens_after: 70,
      milliseconds: 40,
      details: {
        calls: 2,
        prompt_tokens: 900,
        cached_tokens: 100,
        cache_written_tokens: 200,
        completion_tokens: 80,
        cost: 0.5,
      },
    })
    expect(JSON.stringify(event)).not.toContain('PLANTED')
  })
})
