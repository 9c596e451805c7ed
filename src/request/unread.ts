import { beginReport } from '../activity/begin-report.ts'
import type { RequestReport } from '../activity/request-report.ts'
import { bareReport } from '../http/bare-report.ts'
import { onwardOf } from '../http/client-request.ts'
import { unobserved } from './observe.ts'
import type { RequestParts } from './parts.ts'
import type { UnreadRequest } from './request.ts'
import { oneAnswer, type Settled } from './tell/deliver-answer.ts'

/** Sends a body as it came: if it cannot be read with certainty, the upstream judges it. Its answer goes on untouched. */
export async function sendUnread(
  { exchange, body, arrival, turn, unread }: UnreadRequest,
  { upstreams, reports }: RequestParts,
): Promise<Settled> {
  turn.end()
  const sentAtMs = performance.now()
  const answer = await upstreams.send({
    upstream: exchange.upstreamName,
    ...onwardOf(exchange),
    body: body.raw,
  })
  const report: RequestReport = {
    ...bareReport(exchange, arrival),
    ...(unread === 'failed'
      ? { action: 'failed-open', reason: 'reading' }
      : { action: 'relayed', reason: unread }),
    status: answer.status,
    // It was sent as it came.
    isBeyondWindow: answer.status < 400 ? false : null,
    attempts: 1,
    addedMs: sentAtMs - arrival.monotonicMs,
    firstByteMs: performance.now() - sentAtMs,
  }
  return {
    answer,
    held: [],
    headers: { 'x-foldgate-action': `${report.action};reason=${report.reason}` },
    ended: beginReport(report, arrival, reports),
    lesson: null,
    observer: unobserved,
    hidesUsage: false,
    total: oneAnswer,
    release: body.release,
  }
}
