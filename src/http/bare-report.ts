import type { Arrival } from '../activity/arrival.ts'
import type { RequestReport } from '../activity/request-report.ts'
import { headerValue } from '../upstream/credential.ts'
import type { ClientRequest } from './client-request.ts'

/** What is told of a request that was not read. */
export function bareReport(exchange: ClientRequest, arrival: Arrival): RequestReport {
  return {
    startedAtMs: arrival.atMs,
    conversation: null,
    parent: null,
    label: null,
    clientKey: exchange.clientKeyName,
    profile: null,
    model: '',
    upstream: exchange.upstreamName ?? 'default',
    traceparent: headerValue(exchange.incoming.rawHeaders, 'traceparent'),
    action: 'relayed',
    reason: null,
    isStreamed: false,
    status: null,
    refusal: null,
    attempts: 0,
    hasWaited: false,
    size: null,
    passes: [],
    summary: 'none',
    isBeyondWindow: null,
    observed: null,
    compactions: [],
    held: null,
    addedMs: 0,
    firstByteMs: null,
  }
}
