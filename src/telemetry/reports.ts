import { ClientGoneError, FoldgateError, httpStatusOf } from '../errors.ts'
import type { Action } from './journal/rows.ts'
import type { Failures } from './failures.ts'
import {
  unreadAnswer,
  type Endpoint,
  type HeldMessages,
  type RequestEnd,
  type RequestReport,
} from './request-report.ts'

/** What is told of generation requests: the metrics, the journal with the conversations, the traces. */
export type Listener = {
  /** An answer is settled on, or will never be. `messages` must not be kept without a bound. */
  readonly begun?: (report: RequestReport, messages: HeldMessages | null) => void
  /** The answer has ended. */
  readonly ended: (report: RequestReport, end: RequestEnd) => void
}

/** Tells of requests. Nothing that goes wrong with a listener harms a request or keeps it from the others (P2). */
export type Reports = {
  readonly begin: (report: RequestReport, messages: HeldMessages | null) => void
  readonly end: (report: RequestReport, end: Omit<RequestEnd, 'totalMs'>) => void
  /** A request that is no generation request, or of an API that is not compacted, once it is known what became of it. */
  readonly relayed: (
    endpoint: Endpoint,
    action: Extract<Action, 'relayed' | 'refused' | 'left'>,
    client: string | null,
  ) => void
}

export function createReports(
  listeners: readonly Listener[],
  onRelayed: Reports['relayed'],
  { attempt }: Pick<Failures, 'attempt'>,
): Reports {
  return {
    begin: (report, messages) => {
      for (const { begun } of listeners)
        if (begun !== undefined) attempt('observation', undefined, begun, report, messages)
    },
    end: (report, told) => {
      const whole = { ...told, totalMs: performance.now() - report.arrivedMs }
      for (const { ended } of listeners) attempt('observation', undefined, ended, report, whole)
    },
    relayed: onRelayed,
  }
}

/** Tells of a request that ended in an error of Foldgate's own, or whose client left before there was an answer. */
export function reportUnanswered(
  known: RequestReport,
  messages: HeldMessages | null,
  error: unknown,
  reports: Reports,
): void {
  const isGone = error instanceof ClientGoneError
  const code = error instanceof FoldgateError ? error.code : 'internal_error'
  const what = isGone
    ? ({ action: 'left', reason: null, status: null } as const)
    : ({ action: 'refused', reason: code, status: httpStatusOf[code] } as const)
  const report = { ...known, row: { ...known.row, ...what } }
  reports.begin(report, messages)
  reports.end(report, { outcome: isGone ? 'client-gone' : 'finished', ...unreadAnswer })
}
