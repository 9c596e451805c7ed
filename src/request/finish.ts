import type { ChatRequest, Ready, Outcome } from './request.ts'
import { retryAfterMs } from '../upstream/retry-after.ts'
import { headerValue } from '../upstream/credential.ts'
import type { Answer } from '../upstream/upstreams.ts'
import { answerHeaders } from '../activity/answer-headers.ts'
import { deliver, type Delivery } from '../http/deliver.ts'
import type { ClientRequest } from '../http/client-request.ts'
import { usageHiderFor } from './send/hide-usage.ts'
import type { Learning, Lesson } from '../models/learn.ts'
import type { AcceptedCredentials } from '../models/accepted-credentials.ts'
import { lessonOf } from './lesson.ts'
import type { JoinedReply } from './reply/joined-reply.ts'
import { observeAnswer } from './observe.ts'
import type { Preparation } from './prepare.ts'
import { isAnswered } from './send/send.ts'
import type { RateLimits } from '../proxy/summaries/rate-limits.ts'
import { noOutlook } from '../proxy/summaries/summarizer.ts'
import { beginReport } from '../activity/begin-report.ts'
import type { Arrival } from '../activity/arrival.ts'
import { reportOf } from './tell/report-of.ts'
import type { Reports, RequestEnd } from '../activity/request-report.ts'

/**
 * What is left to do once an answer is settled on. It refers to neither the request's body nor its view, unless a reply
 * may take several answers: an answer may flow for minutes, and they must not stay in memory for as long.
 */
export type Settled = {
  readonly answer: Answer
  readonly held: readonly Buffer[]
  readonly headers: Readonly<Record<string, string>>
  /** Is told how the answer ended. */
  readonly ended: (end: Omit<RequestEnd, 'totalMs'>) => void
  /** What its end is to be compared with; null where that could not be said. */
  readonly lesson: Lesson | null
  /** Whether the usage that a stream states is hidden: asked for, and not by the client. */
  readonly hidesUsage: boolean
  /** The reply, where it may take several answers; null where it is this answer. */
  readonly joined: JoinedReply | null
  /** Gives the body's bytes back to the budget, once the answer is over. */
  readonly release: () => void
}

export type SettleParts = Pick<Preparation, 'failures' | 'nowMs'> & {
  readonly accepted: AcceptedCredentials
  readonly rateLimits: RateLimits
  readonly reports: Reports
}

export type SettleOptions = Pick<Settled, 'release' | 'joined'> & { readonly arrival: Arrival }

/** What remains of a request when its answer is settled on. */
export function settle(
  request: ChatRequest,
  ready: Ready,
  outcome: Outcome,
  { release, arrival, joined }: SettleOptions,
  parts: SettleParts,
): Settled {
  const { failures, accepted, rateLimits, nowMs } = parts
  // The answer is there: nothing that only learns from it may stand in its way.
  const isAccepted = isAnswered(outcome)
  // A summary is only asked for after the upstream has accepted whoever asks, and by the view that it has accepted.
  const outlook = isAccepted && outcome.remedy === 'none' ? ready.outlook : noOutlook
  outlook.begin?.()
  const lesson = failures.attempt('observation', null, () => {
    if (isAccepted) accepted.note(request.modelKey)
    if (outcome.answer.status === 429) {
      const header = headerValue(outcome.answer.rawHeaders, 'retry-after')
      rateLimits.note(request.modelKey, retryAfterMs(header, nowMs()))
    }
    return lessonOf(request, ready, outcome)
  })
  // Whatever is told of it: the answer is there.
  const told = failures.attempt('observation', null, () => {
    const report = reportOf(request, ready, outcome, outlook, arrival)
    const { repairs } = outcome.prepared.chat
    return {
      headers: answerHeaders(report, { repairs, missing: outlook.reason }),
      ended: beginReport(report, arrival, parts.reports),
    }
  })
  return {
    answer: outcome.answer,
    held: outcome.held,
    headers: told?.headers ?? { 'x-foldgate-attempts': String(outcome.attempts) },
    ended: told?.ended ?? nobodyIsTold,
    lesson,
    hidesUsage: outcome.asksUsage,
    joined,
    release,
  }
}

/** Gives the answer to the client, reads along, and remembers what it taught. */
export async function finish(
  exchange: ClientRequest,
  settled: Settled,
  parts: Pick<Preparation, 'failures'> & { readonly learning: Learning; readonly stallMs: number },
): Promise<Delivery> {
  const { joined } = settled
  const observer = joined?.observer ?? observeAnswer(settled.answer)
  const delivery = await deliver(exchange, settled.answer, {
    headers: settled.headers,
    held: settled.held,
    transform: settled.hidesUsage ? usageHiderFor(settled.answer) : null,
    tap: observer.tap,
    stallMs: parts.stallMs,
  })
  const { failures } = parts
  const report = failures.attempt('observation', null, observer.end)
  failures.attempt('observation', undefined, () => {
    if (report === null || settled.lesson === null) return
    parts.learning.answered(settled.lesson, report, delivery.outcome === 'finished')
  })
  const total = joined?.total() ?? oneAnswer
  const { usage = null, model: answeredBy = null } = report ?? {}
  settled.ended({ outcome: delivery.outcome, answeredBy, ...total, usage: total.usage ?? usage })
  return delivery
}

// --- internal ---

/** A reply that took one answer. */
const oneAnswer = { recalls: 0, continuations: 0, usage: null }

function nobodyIsTold(): void {}
