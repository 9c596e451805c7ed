import type { BegunRow } from '../telemetry/journal/rows.ts'
import { bareReport, unreadReport } from '../server/bare-report.ts'
import { unobserved } from './observe.ts'
import type { RequestParts } from './parts.ts'
import type { ArrivedRequest, UnreadRequest } from './request.ts'
import type { Settled } from './tell/tell-answer.ts'

/** Sends a body as it came: if it cannot be read with certainty, the upstream judges it. Its answer goes on untouched. */
export async function sendUnread(request: UnreadRequest, parts: RequestParts): Promise<Settled> {
  const { exchange, dialect, body, turn, unread } = request
  const { upstreams, warnings } = parts
  turn.end()
  if (unread === 'stateful' && dialect.howToSendAll !== null) warnings.stateful(dialect.howToSendAll)
  const sentAtMs = performance.now()
  const answer = await upstreams.send({ ...exchange, upstream: exchange.upstreamName, body: body.raw })
  const told =
    unread === 'failed'
      ? ({ action: 'failed-open', reason: 'reading' } as const)
      : ({ action: 'relayed', reason: unread } as const)
  return settledUnread(request, { answer, held: [] }, { ...told, sentAtMs }, parts)
}

/** An answer that goes on as it is, to a request of which nothing was measured. */
export function settledUnread(
  { exchange, body, arrival }: ArrivedRequest,
  { answer, held }: Pick<Settled, 'answer' | 'held'>,
  {
    action,
    reason,
    sentAtMs,
  }: Pick<BegunRow, 'action' | 'reason'> & {
    /** When it was sent, as `performance.now()` told. */
    readonly sentAtMs: number
  },
  { reports }: Pick<RequestParts, 'reports'>,
): Settled {
  const report = unreadReport(bareReport(exchange, arrival), {
    action,
    reason,
    status: answer.status,
    added_ms: sentAtMs - arrival.monotonicMs,
    first_byte_ms: performance.now() - sentAtMs,
  })
  reports.begin(report, null)
  return {
    answer,
    held,
    headers: { 'x-foldgate-action': reason === null ? action : `${action};reason=${reason}` },
    report,
    lesson: null,
    observer: unobserved,
    usageHider: null,
    total: null,
    release: body.release,
  }
}
