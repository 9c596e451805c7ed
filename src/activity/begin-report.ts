import { ClientGoneError, FoldgateError, httpStatusOf } from '../errors.ts'
import type { Arrival } from './arrival.ts'
import { unreadAnswer, type Reports, type RequestEnd, type RequestReport } from './request-report.ts'

/** Hands a report on. The returned function tells how the request ended; it does not hold the report. */
export function beginReport(
  report: RequestReport,
  { monotonicMs }: Arrival,
  reports: Reports,
): (end: Omit<RequestEnd, 'totalMs'>) => void {
  const ended = reports.begin(report)
  return (end) => ended({ ...end, totalMs: performance.now() - monotonicMs })
}

/** Tells of a request that ended in an error of Foldgate's own, or whose client left before there was an answer. */
export function reportUnanswered(
  known: RequestReport,
  error: unknown,
  arrival: Arrival,
  reports: Reports,
): void {
  const isGone = error instanceof ClientGoneError
  const code = error instanceof FoldgateError ? error.code : 'internal_error'
  const report: RequestReport = {
    ...known,
    action: isGone ? 'left' : 'refused',
    reason: isGone ? null : code,
    status: isGone ? null : httpStatusOf[code],
  }
  beginReport(
    report,
    arrival,
    reports,
  )({
    outcome: isGone ? 'client-gone' : 'finished',
    ...unreadAnswer,
  })
}
