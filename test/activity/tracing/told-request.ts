import type { RequestEnd, RequestReport, CompactionReport } from '../../../src/activity/request-report.ts'

/** When the requests of these tests came, in milliseconds. */
export const beganMs = Date.UTC(2026, 10, 20, 12)

const compaction: CompactionReport = {
  reason: 'trigger',
  point: 80,
  passes: ['fold'],
  ranges: [],
  isDerived: false,
  tokensBefore: 90_000,
  tokensAfter: 50_000,
  summaries: [],
  milliseconds: 12,
}

/** A compacted request, but for what a test wants otherwise. */
export function reportOf(other: Partial<RequestReport> = {}): RequestReport {
  return {
    startedAtMs: beganMs,
    conversation: 'c0ffee',
    parent: null,
    label: 'PLANTED-LABEL',
    clientKey: 'PLANTED-CLIENT',
    profile: 'default',
    model: 'gpt-5',
    upstream: 'default',
    action: 'compacted',
    reason: null,
    traceparent: null,
    isStreamed: true,
    status: 200,
    refusal: null,
    attempts: 1,
    hasWaited: false,
    size: {
      receivedTokens: 90_000,
      sentTokens: 50_000,
      isBound: false,
      isSentBound: false,
      receivedMessages: 120,
      sampledMessages: 0,
      sentMessages: 40,
      pressure: 0.9,
      sentPressure: 0.5,
      windowTokens: 128_000,
      windowSource: 'table',
      overruledTokens: null,
      budgetTokens: 100_000,
      ratio: 1,
      repeatedTokens: 0,
    },
    passes: ['render', 'fold'],
    summary: 'recap',
    isBeyondWindow: false,
    observed: null,
    compactions: [compaction],
    held: { outline: { read: forbidden, bytes: 0 }, texts: forbidden, bytes: 0 },
    addedMs: 20,
    firstByteMs: 300,
    ...other,
  }
}

export function endOf(other: Partial<RequestEnd> = {}): RequestEnd {
  return {
    outcome: 'finished',
    usage: { promptTokens: 50_100, cachedTokens: 40_000, completionTokens: 700 },
    answeredBy: 'gpt-5-2026-08-07',
    recalls: 0,
    continuations: 0,
    totalMs: 2_500,
    ...other,
  }
}

function forbidden(): never {
  throw new Error('Traces have no business with what stands in messages.')
}
