import type { BegunRow, RequestReport } from '../activity/request-report.ts'
import type { Failures } from '../activity/failures.ts'
import { headerValue } from '../upstream/credential.ts'
import type { ClientRequest } from './client-request.ts'

/** When a request had arrived: by the clock, and as `performance.now()` told. In milliseconds. */
export type Arrival = { readonly atMs: number; readonly monotonicMs: number }

export type ArrivalParts = {
  readonly failures: Pick<Failures, 'attempt'>
  readonly nowMs: () => number
}

/** Now. A clock that fails costs a report its time, and the request nothing (P2). */
export function arrivalNow({ failures, nowMs }: ArrivalParts): Arrival {
  return { atMs: failures.attempt('observation', 0, nowMs), monotonicMs: performance.now() }
}

/** The report of a request that was not read. */
export function bareReport(exchange: ClientRequest, arrival: Arrival): RequestReport {
  return {
    row: {
      time: new Date(arrival.atMs).toISOString(),
      conversation: null,
      parent: null,
      label: null,
      client_key: exchange.clientKeyName,
      profile: null,
      model: '',
      answered_by: null,
      upstream: exchange.upstreamName ?? 'default',
      action: 'relayed',
      reason: null,
      status: null,
      outcome: 'finished',
      streamed: false,
      attempts: 0,
      window_tokens: null,
      window_source: null,
      overruled_tokens: null,
      budget_tokens: null,
      messages_received: null,
      messages_sent: null,
      tokens_received: null,
      tokens_sent: null,
      tokens_are_bounds: false,
      pressure: null,
      sent_pressure: null,
      passes: [],
      summary: 'none',
      compaction: null,
      beyond_window: null,
      observed_tokens_sent: null,
      observed_passes: [],
      prompt_tokens: null,
      cached_tokens: null,
      completion_tokens: null,
      prompt_cost: null,
      whole_prompt_cost: null,
      recalls: 0,
      continuations: 0,
      added_ms: 0,
      first_byte_ms: null,
      total_ms: 0,
    },
    arrivedMs: arrival.monotonicMs,
    traceparent: headerValue(exchange.incoming.rawHeaders, 'traceparent'),
    refusal: null,
    hasWaited: false,
    isSentBound: false,
    sampledMessages: 0,
    ratio: 1,
    repeatedTokens: 0,
    compactions: [],
    repairs: null,
    missingSummary: null,
  }
}

/** The same of one that was answered: it was sent as it came. */
export function unreadReport(
  bare: RequestReport,
  told: Pick<BegunRow, 'action' | 'reason' | 'added_ms' | 'first_byte_ms'> & { readonly status: number },
): RequestReport {
  const isBeyondWindow = told.status < 400 ? false : null
  return { ...bare, row: { ...bare.row, ...told, beyond_window: isBeyondWindow, attempts: 1 } }
}
