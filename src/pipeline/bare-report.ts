import { nothingTold, type RequestReport } from '../telemetry/request-report.ts'
import { unknownRow } from '../telemetry/journal/rows.ts'
import type { Failures } from '../telemetry/failures.ts'
import { headerValue } from '../upstream/credential.ts'
import type { ClientRequest } from './client-request.ts'

/** When a request had arrived. */
export type Arrival = {
  /** By the clock; ISO 8601, in UTC. */
  readonly time: string
  /** As `performance.now()` told, in milliseconds. */
  readonly monotonicMs: number
}

type ArrivalParts = {
  readonly failures: Pick<Failures, 'attempt'>
  readonly nowMs: () => number
}

/** Now. A clock that fails costs a report its time, and the request nothing (P2). */
export function arrivalNow({ failures, nowMs }: ArrivalParts): Arrival {
  return {
    time: failures.attempt('observation', UNKNOWN_TIME, () => new Date(nowMs()).toISOString()),
    monotonicMs: performance.now(),
  }
}

/** The report of a request that was not read. */
export function bareReport(exchange: ClientRequest, arrival: Arrival): RequestReport {
  const { route } = exchange
  return {
    row: {
      ...unknownRow,
      action: 'relayed',
      time: arrival.time,
      client_key: exchange.clientKeyName,
      client: clientOf(exchange),
      dialect: route.kind === 'conversation' ? route.dialect.name : null,
      upstream: exchange.upstreamName ?? unknownRow.upstream,
    },
    arrivedMs: arrival.monotonicMs,
    traceparent: headerValue(exchange.rawHeaders, 'traceparent'),
    ...nothingTold,
  }
}

/** Which program sends a request, by its own word: the beginning of its `user-agent`; null if it has none. */
export function clientOf({ rawHeaders }: Pick<ClientRequest, 'rawHeaders'>): string | null {
  return headerValue(rawHeaders, 'user-agent')?.slice(0, CLIENT_CHARS_MAX) ?? null
}

// --- internal ---

const UNKNOWN_TIME = new Date(0).toISOString()

/** Programs name themselves in fewer; a row of each request is kept. */
const CLIENT_CHARS_MAX = 100
