import type { Answer, Upstreams } from '../upstream/upstreams.ts'
import { deliver, type Delivery } from '../http/deliver.ts'
import { onwardOf, type ClientRequest } from '../http/client-request.ts'
import type { RequestBody } from '../http/read-body.ts'
import type { UnreadReason } from './read/read-chat.ts'
import { beginReport } from '../activity/begin-report.ts'
import type { Arrival } from '../activity/arrival.ts'
import { bareReport } from '../http/bare-report.ts'
import { unreadAnswer, type Reports, type RequestReport } from '../activity/request-report.ts'

/** The answer to a body that was not read, and why it was not. */
export type Unread = {
  readonly unread: UnreadReason
  readonly answer: Answer
  /** What is told of it. */
  readonly report: RequestReport
  readonly arrival: Arrival
  /** Gives the body's bytes back to the budget, once the answer is over. */
  readonly release: () => void
}

/** Sends a body as it came: what cannot be read with certainty is the upstream's to judge. */
export async function sendUnread(
  exchange: ClientRequest,
  body: RequestBody,
  reason: UnreadReason,
  arrival: Arrival,
  parts: { readonly upstreams: Upstreams },
): Promise<Unread> {
  const sentAtMs = performance.now()
  const answer = await parts.upstreams.send({
    upstream: exchange.upstreamName,
    ...onwardOf(exchange),
    body: body.raw,
  })
  const report: RequestReport = {
    ...bareReport(exchange, arrival),
    ...(reason === 'failed' ? { action: 'failed-open', reason: 'reading' } : { action: 'relayed', reason }),
    status: answer.status,
    // It was sent as it came.
    isBeyondWindow: answer.status < 400 ? false : null,
    attempts: 1,
    addedMs: sentAtMs - arrival.monotonicMs,
    firstByteMs: performance.now() - sentAtMs,
  }
  return { unread: reason, answer, report, arrival, release: body.release }
}

/** Gives the answer to the client untouched. */
export async function deliverUnread(
  exchange: ClientRequest,
  { answer, report, arrival }: Unread,
  parts: { readonly stallMs: number; readonly reports: Reports },
): Promise<Delivery> {
  const ended = beginReport(report, arrival, parts.reports)
  const headers = { 'x-foldgate-action': `${report.action};reason=${report.reason}` }
  const delivery = await deliver(exchange, answer, { headers, stallMs: parts.stallMs })
  ended({ outcome: delivery.outcome, ...unreadAnswer })
  return delivery
}
