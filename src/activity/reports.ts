import { ClientGoneError, FoldgateError, httpStatusOf } from '../errors.ts'
import type { Failures } from './failures.ts'
import {
  unreadAnswer,
  type Action,
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
  /** A request was answered of which only figures are told. A listener without this has to be told of each by itself. */
  readonly counted?: (request: CountedRequest) => void
}

/** A small request that went on as it came and was answered, as it is counted where nobody looked into it. */
export type CountedRequest = {
  readonly profile: string
  /** The wire format that it came in. */
  readonly dialect: string
  /** At the most: its bytes, against the budget. */
  readonly pressure: number
  /** From its arrival until it was sent, in milliseconds. */
  readonly addedMs: number
  /** From then until the headers of its answer, in milliseconds. */
  readonly firstByteMs: number
  /** The provider's own counts; null if it stated none. */
  readonly usage: RequestEnd['usage']
}

/** Tells of requests. Nothing that goes wrong with a listener harms a request or keeps it from the others (P2). */
export type Reports = {
  readonly begin: (report: RequestReport, messages: HeldMessages | null) => void
  readonly end: (report: RequestReport, end: Omit<RequestEnd, 'totalMs'>) => void
  /** A request was answered of which no more is told than figures; null if somebody is to be told of each by itself. */
  readonly count: ((request: CountedRequest) => void) | null
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
  { note }: Pick<Failures, 'note'>,
): Reports {
  function count(request: CountedRequest): void {
    for (const listener of listeners) {
      try {
        listener.counted?.(request)
      } catch (error) {
        note('observation', error)
      }
    }
  }
  return {
    count: listeners.every(({ counted }) => counted !== undefined) ? count : null,
    begin: function begin(report, messages) {
      for (const listener of listeners) {
        try {
          listener.begun?.(report, messages)
        } catch (error) {
          note('observation', error)
        }
      }
    },
    end: function end(report, told) {
      const whole: RequestEnd = { ...told, totalMs: performance.now() - report.arrivedMs }
      for (const listener of listeners) {
        try {
          listener.ended(report, whole)
        } catch (error) {
          note('observation', error)
        }
      }
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
