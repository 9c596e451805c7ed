import type { AcceptedCredentials } from '../../models/accepted-credentials.ts'
import type { Learning, Lesson } from '../../models/learn.ts'
import { answerHeaders } from '../../activity/answer-headers.ts'
import type { Failures } from '../../activity/failures.ts'
import { beginReport } from '../../activity/begin-report.ts'
import { reportOf } from './report-of.ts'
import type { Reports, RequestEnd } from '../../activity/request-report.ts'
import { deliver, type Delivery } from '../../http/deliver.ts'
import type { ClientRequest } from '../../http/client-request.ts'
import type { RateLimits } from '../../summaries/rate-limits.ts'
import { noOutlook } from '../../summaries/outlook.ts'
import { headerValue } from '../../upstream/credential.ts'
import { retryAfterMs } from '../../upstream/retry-after.ts'
import type { Answer } from '../../upstream/upstreams.ts'
import { describeSent, expectedPromptTokens } from '../measure/sent-prompt.ts'
import { windowQuestion } from '../measure/window-finder.ts'
import { observeAnswer } from '../observe.ts'
import type { JoinedReply } from '../reply/joined-reply.ts'
import type { AnsweredRequest } from '../request.ts'
import { usageHiderFor } from '../send/hide-usage.ts'
import { isAnswered } from '../send/outcome.ts'

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

export type TellParts = {
  readonly failures: Failures
  readonly nowMs: () => number
  readonly accepted: AcceptedCredentials
  readonly rateLimits: RateLimits
  readonly learning: Learning
  readonly reports: Reports
  /** How long a client may take nothing of its answer, in milliseconds. */
  readonly stallMs: number
}

/** The stage that tells what was done: what remains of a request once its answer is settled on. */
export function tellAnswer(
  request: AnsweredRequest,
  joined: JoinedReply | null,
  release: () => void,
  { failures, accepted, rateLimits, reports, nowMs }: TellParts,
): Settled {
  const { outcome } = request
  // The answer is there: nothing that only learns from it may stand in its way.
  const isAccepted = isAnswered(outcome)
  // A summary is only asked for after the upstream has accepted whoever asks, and by the view that it has accepted.
  const outlook = isAccepted && outcome.remedy === 'none' ? request.outlook : noOutlook
  outlook.begin?.()
  const lesson = failures.attempt('observation', null, () => {
    if (isAccepted) accepted.note(request.modelKey)
    if (outcome.answer.status === 429) {
      const header = headerValue(outcome.answer.rawHeaders, 'retry-after')
      rateLimits.note(request.modelKey, retryAfterMs(header, nowMs()))
    }
    return lessonOf(request)
  })
  // Whatever is told of it: the answer is there.
  const told = failures.attempt('observation', null, () => {
    const report = reportOf(request, outlook)
    const { repairs } = outcome.form.chat
    return {
      headers: answerHeaders(report, { repairs, missing: outlook.reason }),
      ended: beginReport(report, request.arrival, reports),
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
export async function deliverAnswer(
  exchange: ClientRequest,
  { answer, held, headers, ended, lesson, hidesUsage, joined }: Settled,
  { failures, learning, stallMs }: TellParts,
): Promise<Delivery> {
  const observer = joined?.observer ?? observeAnswer(answer)
  const transform = hidesUsage ? usageHiderFor(answer) : null
  const delivery = await deliver(exchange, answer, { headers, held, transform, tap: observer.tap, stallMs })
  const report = failures.attempt('observation', null, observer.end)
  if (report !== null && lesson !== null) {
    failures.attempt('observation', undefined, () =>
      learning.answered(lesson, report, delivery.outcome === 'finished'),
    )
  }
  const total = joined?.total() ?? ONE_ANSWER
  const { usage = null, model: answeredBy = null } = report ?? {}
  ended({ outcome: delivery.outcome, answeredBy, ...total, usage: total.usage ?? usage })
  return delivery
}

// --- internal ---

/** A reply that took one answer. */
const ONE_ANSWER = { recalls: 0, continuations: 0, usage: null }

function nobodyIsTold(): void {}

/** What remains to be compared with the end of an answer. */
function lessonOf(request: AnsweredRequest): Lesson {
  const { chat, profile, measure, outcome } = request
  const { form, asksUsage } = outcome
  const { stream, includeUsage, outputLimit } = chat.completion
  // What was counted is the repaired conversation: what an upstream says of the client's own tells nothing of that.
  const isMeasured = measure !== null && form.chat === chat
  return {
    modelKey: request.modelKey,
    model: request.model,
    conversation: request.remembered.conversation,
    expectedTokens: measure === null ? form.sentTokens : expectedPromptTokens(measure, form),
    outputTokens: outputLimit?.tokens ?? null,
    sent: isMeasured ? describeSent(chat, request.place.scope, measure, form) : null,
    question: windowQuestion(request),
    isAuto: profile.window.tokens === 'auto',
    isUsageUnasked: stream && !includeUsage && !asksUsage,
  }
}
