import type { BegunRow } from '../../src/telemetry/journal/rows.ts'
import {
  nothingTold,
  type CompactionReport,
  type RequestEnd,
  type RequestReport,
  type SummaryCall,
} from '../../src/telemetry/request-report.ts'
import type { Spent, SummaryResult } from '../../src/summaries/summary-order.ts'
import { usageRow } from './rows.ts'

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
  treated: { folded: 31, recap_tokens: 1_900, newest_kept: 14 },
  milliseconds: 12,
}

const sender = {
  client_key: 'PLANTED-CLIENT',
  client: 'OpenAI/JS 7.55.0',
  dialect: 'chat-completions',
} as const
const window = { window_tokens: 128_000, window_source: 'table', budget_tokens: 100_000 }
const sizes = { messages_received: 120, messages_sent: 40, tokens_received: 90_000, tokens_sent: 50_000 }
const pressures = { pressure: 0.9, sent_pressure: 0.5, beyond_window: false }
const done = { passes: ['render', 'fold'], summary: 'recap', compaction: 'trigger' }
const times = { time: new Date(beganMs).toISOString(), added_ms: 20, first_byte_ms: 300, total_ms: 0 }

const { process: _, ...known } = usageRow({
  conversation: 'c0ffee',
  label: 'PLANTED-LABEL',
  model: 'gpt-5',
  streamed: true,
  ...sender,
  ...window,
  ...sizes,
  ...pressures,
  ...done,
  ...times,
})

const row: BegunRow = { ...known, action: 'compacted' }

/** The row of a request that was never measured. */
export const unmeasured = {
  window_tokens: null,
  window_source: null,
  budget_tokens: null,
  messages_received: null,
  messages_sent: null,
  tokens_received: null,
  tokens_sent: null,
  pressure: null,
  sent_pressure: null,
} as const satisfies Partial<BegunRow>

/** A compacted request, but for what a test wants otherwise. */
export const reportOf = (
  otherRow: Partial<BegunRow> = {},
  other: Partial<RequestReport> = {},
): RequestReport => ({
  row: { ...row, ...otherRow },
  arrivedMs: 0,
  traceparent: null,
  ...nothingTold,
  compactions: [compaction],
  prefixCause: 'foldgate',
  ...other,
})

/** The same without a compaction. */
export const plainReport = (otherRow: Partial<BegunRow> = {}, other: Partial<RequestReport> = {}) =>
  reportOf({ compaction: null, ...otherRow }, { compactions: [], ...other })

export const endOf = (other: Partial<RequestEnd> = {}): RequestEnd => ({
  outcome: 'finished',
  usage: { promptTokens: 50_100, cachedTokens: 40_000, cacheWrittenTokens: 9_000, completionTokens: 700 },
  answeredBy: 'gpt-5-2026-08-07',
  removedThoughts: null,
  cacheMiss: null,
  recalls: 0,
  continuations: 0,
  totalMs: 2_500,
  ...other,
})

const spent: Spent = {
  calls: 2,
  promptTokens: 900,
  cachedTokens: 100,
  cacheWrittenTokens: 200,
  completionTokens: 80,
  sentTokens: 880,
  learntWindowTokens: null,
}

/** For what a summary was asked, and when it was there. */
export const summaryCall = (other: Partial<SummaryCall> = {}): SummaryCall => {
  const { milliseconds = 900 } = other
  const endedAtMs = beganMs + milliseconds
  return {
    conversation: 'c0ffee',
    name: 'a summary',
    model: 'small',
    upstream: null,
    milliseconds,
    endedAtMs,
    ...other,
  }
}

export const writtenSummary = (other: Partial<Spent> = {}): SummaryResult => ({
  kind: 'written',
  text: 'PLANTED-TEXT',
  tokens: 70,
  ...spent,
  ...other,
})

export const failedSummary = (
  reason: Extract<SummaryResult, { kind: 'failed' }>['reason'],
): SummaryResult => ({ kind: 'failed', reason, ...spent })
