import type { IncomingMessage } from 'node:http'
import { ClientGoneError, type FoldgateError } from '../errors.ts'
import type { UncompactedPath } from '../upstream/target.ts'
import type { Upstreams } from '../upstream/upstreams.ts'
import { refuseWayAround } from './confinement.ts'
import { type Reports, reportUnanswered, unreadAnswer } from '../telemetry/request-report.ts'
import { arrivalNow, type ArrivalParts, bareReport, clientOf, unreadReport } from './bare-report.ts'
import type { ArrivalLimits } from './arrival-clock.ts'
import { deliver } from './deliver.ts'
import type { ClientRequest } from './client-request.ts'
import { bodyAtHand, declaredBytes, inviteBody, uploadOf } from './receive-body.ts'

export type RelayOptions = ArrivalParts & {
  readonly upstreams: Upstreams
  /** Called for a generation path that carries conversations but is not compacted. */
  readonly onUncompacted?: (path: UncompactedPath) => void
  readonly reports: Reports
  /** How fast a client has to send its body. */
  readonly arrival: ArrivalLimits
  /** Called when an answer breaks off. */
  readonly onFailure?: (error: FoldgateError, incoming: IncomingMessage) => void
}

/** `action` is what `x-foldgate-action` says; by default that nothing was read. */
export type Relay = (exchange: ClientRequest, action?: 'relayed' | 'bypassed') => Promise<void>

/** Passes a request and its answer through unread, both as streams. */
export function createRelay(options: RelayOptions): Relay {
  const { upstreams } = options

  async function pass(exchange: ClientRequest, action: 'relayed' | 'bypassed'): Promise<void> {
    const { incoming, outgoing } = exchange
    if (exchange.rights !== null) refuseWayAround(exchange.rights, exchange)
    const arrival = arrivalNow(options)
    const uncompacted = uncompactedOf(exchange)
    if (uncompacted !== null) options.onUncompacted?.(uncompacted)
    // The parser comes to the body once the event that began the request is over.
    await Promise.resolve()
    const declared = declaredBytes(incoming)
    const upload =
      declared === 0
        ? null
        : (bodyAtHand(incoming, declared) ?? uploadOf(incoming, options.arrival, exchange.end))
    inviteBody(incoming, outgoing)
    const bodyBytes = upload === null ? null : declared
    const onward = { ...exchange, upstream: exchange.upstreamName, body: upload, bodyBytes }
    const answer = await upstreams.send(onward).catch((error: unknown) => {
      if (action === 'bypassed') reportUnanswered(bareReport(exchange, arrival), null, error, options.reports)
      throw error
    })
    const report =
      action === 'relayed'
        ? null
        : unreadReport(bareReport(exchange, arrival), {
            action,
            reason: null,
            status: answer.status,
            added_ms: 0,
            first_byte_ms: performance.now() - arrival.monotonicMs,
          })
    if (report === null) tellRelayed(exchange, 'relayed')
    else options.reports.begin(report, null)
    const delivery = await deliver(exchange, answer, {
      headers: { 'x-foldgate-action': uncompacted === null ? action : `${action};reason=path` },
    })
    if (report !== null) options.reports.end(report, { outcome: delivery.outcome, ...unreadAnswer })
    if (delivery.error !== null) options.onFailure?.(delivery.error, exchange.incoming)
  }

  function tellRelayed(exchange: ClientRequest, action: 'relayed' | 'refused' | 'left'): void {
    options.reports.relayed(uncompactedOf(exchange) ?? 'other', action, clientOf(exchange))
  }

  return async function relay(exchange, action = 'relayed') {
    try {
      await pass(exchange, action)
    } catch (error) {
      const { aborted, reason } = exchange.signal
      const isGone = aborted || error instanceof ClientGoneError
      if (action === 'relayed') tellRelayed(exchange, isGone ? 'left' : 'refused')
      throw aborted ? reason : error
    }
  }
}

// --- internal ---

function uncompactedOf({ route }: ClientRequest): UncompactedPath | null {
  return route.kind === 'relay' ? route.uncompacted : null
}
