import type { Lesson } from '../../models/learn.ts'
import { answerHeaders } from '../../activity/answer-headers.ts'
import { noOutlook } from '../../summaries/summary-record.ts'
import { shapeOf } from '../../upstream/answer-shape.ts'
import { headerValue } from '../../upstream/credential.ts'
import { retryAfterMs } from '../../upstream/retry-after.ts'
import type { Settled } from './deliver-answer.ts'
import { heldMessages } from './held-messages.ts'
import { heldUsage } from './held-usage.ts'
import { answeredReport } from './report.ts'
import { describeSent, promptTokensOf } from '../measure/sent-prompt.ts'
import { observeAnswer } from '../observe.ts'
import type { RequestParts } from '../parts.ts'
import type { AnsweredRequest, RepliedRequest } from '../request.ts'
import { bytesIn } from '../send/outgoing-body.ts'
import { isAnswered } from '../send/outcome.ts'

/** The stage that tells what was done: what remains of a request once its answer is settled on. */
export function tellAnswer(request: RepliedRequest, parts: RequestParts): Settled {
  const { failures, reports } = parts
  const { outcome, joined, body, chat } = request
  // The HTTP client keeps the bytes that it sent until the answer is complete; mostly a view is small beside
  // the body, which is gone by then. A reply that may still go on is made from the body.
  const isSmall = bytesIn(outcome.form.pieces) <= chat.bytes.length * SMALL_VIEW_SHARE
  if (isSmall && joined?.isOpen !== true) body.release()
  // The answer is there: nothing that only learns from it may stand in its way.
  const isAccepted = isAnswered(outcome)
  // A summary is only asked for after the upstream has accepted this credential, and by the view that it has accepted.
  const outlook = isAccepted && outcome.remedy === 'none' ? request.outlook : noOutlook
  outlook.begin?.()
  // What a larger model answered in another one's place says something of that one alone.
  const answered = outcome.fallback?.answered ?? null
  const teaching = answered === null ? request : { ...request, ...answered }
  const lesson = failures.attempt('observation', null, lessonOf, teaching, isAccepted, parts)
  const { answers } = request.dialect
  // Reports must not keep the answer from the client.
  const told = failures.attempt('observation', null, () => {
    const prefixCause = answered === null ? parts.prefixCause(request) : 'foldgate'
    const report = answeredReport(request, outlook, prefixCause)
    const headers = answerHeaders(report, heldUsage(outcome, answers))
    reports.begin(report, heldMessages(request, outcome.form))
    return { report, headers }
  })
  const hidesUsage = outcome.asksUsage && shapeOf(outcome.answer) === 'stream'
  return {
    answer: outcome.answer,
    held: outcome.held,
    headers: told?.headers ?? { 'x-foldgate-attempts': String(outcome.attempts) },
    report: told?.report ?? null,
    lesson,
    observer: joined?.observer ?? observeAnswer(outcome.answer, answers, outcome.facts),
    usageHider: hidesUsage ? (answers.usageHider?.() ?? null) : null,
    total: joined?.total ?? null,
    release: body.release,
  }
}

// --- internal ---

/** Up to this share of the body a view is not worth a place in the budget. */
const SMALL_VIEW_SHARE = 0.25

/** Notes what an answer's head says, and returns the facts that are compared with its end. */
function lessonOf(
  request: AnsweredRequest,
  isAccepted: boolean,
  { accepted, summaries, nowMs }: RequestParts,
): Lesson {
  const { chat, profile, measure, outcome } = request
  if (isAccepted) accepted.note(request.modelKey)
  if (outcome.answer.status === 429) {
    const header = headerValue(outcome.answer.rawHeaders, 'retry-after')
    summaries.rateLimits.note(request.modelKey, retryAfterMs(header, nowMs()))
  }
  const { form, asksUsage } = outcome
  const { isStreamed, showsUsage, outputLimit } = chat.body
  // What was counted is the repaired conversation: what an upstream says of the client's own tells nothing of that.
  const isMeasured = measure !== null && form.chat === chat
  return {
    modelKey: request.modelKey,
    conversation: request.remembered.conversation,
    expectedTokens: promptTokensOf(measure, form),
    outputTokens: form.clampedOutputTokens ?? outputLimit?.tokens ?? null,
    sent: isMeasured ? describeSent(chat, request.place.scope, measure, form) : null,
    question: request.question,
    isAuto: profile.window.tokens === 'auto',
    isUsageUnasked: isStreamed && !showsUsage && !asksUsage,
  }
}
