import { bareReport, unreadReport } from '../http/bare-report.ts'
import { unobserved } from './observe.ts'
import type { RequestParts } from './parts.ts'
import type { UnreadRequest } from './request.ts'
import type { Settled } from './tell/deliver-answer.ts'

/** Sends a body as it came: if it cannot be read with certainty, the upstream judges it. Its answer goes on untouched. */
export async function sendUnread(
  { exchange, dialect, body, arrival, turn, unread }: UnreadRequest,
  { upstreams, reports, warnings }: RequestParts,
): Promise<Settled> {
  turn.end()
  if (unread === 'stateful' && dialect.howToSendAll !== null) warnings.stateful(dialect.howToSendAll)
  const sentAtMs = performance.now()
  const answer = await upstreams.send({
    ...exchange,
    upstream: exchange.upstreamName,
    body: body.raw,
  })
  const report = unreadReport(bareReport(exchange, arrival), {
    ...(unread === 'failed'
      ? { action: 'failed-open', reason: 'reading' }
      : { action: 'relayed', reason: unread }),
    status: answer.status,
    added_ms: sentAtMs - arrival.monotonicMs,
    first_byte_ms: performance.now() - sentAtMs,
  })
  reports.begin(report, null)
  return {
    answer,
    held: [],
    headers: { 'x-foldgate-action': `${report.row.action};reason=${report.row.reason}` },
    report,
    lesson: null,
    observer: unobserved,
    usageHider: null,
    total: null,
    release: body.release,
  }
}
