import type { Lesson } from '../../models/learn.ts'
import { answerHeaders } from '../../telemetry/answer-headers.ts'
import { noOutlook } from '../../summaries/summary-record.ts'
import { type AnswerShape, retryAfterMs, shapeOf } from '../../upstream/answer-head.ts'
import { headerValue } from '../../upstream/credential.ts'
import { heldMessages } from './held-messages.ts'
import { readReport } from './report.ts'
import { describeSent, promptTokensOf } from '../measure/sent-prompt.ts'
import { observeAnswer } from '../send/judge.ts'
import type { RequestParts } from '../request-parts.ts'
import type { AnsweredRequest, AnswerObserver, JoinedReply, Judged, RepliedRequest } from '../request.ts'
import { bytesIn } from '../send/outgoing-body.ts'
import { isAnswered } from '../send/outcome.ts'
import type { Answers, Usage, UsageHider } from '../../formats/answer-contract.ts'
import { parseAnswerText } from '../../formats/answer-json.ts'
import { createEventReader } from '../../formats/event-reader.ts'
import { nextSlice } from '../../scheduling/drive.ts'
import type { RequestReport } from '../../telemetry/request-report.ts'
import type { ClientAnswer } from '../client-request.ts'
import { hidingUsage } from '../send/usage-in-streams.ts'

/** The stage that tells what was done: what remains of a request once its answer is settled on. */
export async function tellAnswer(request: RepliedRequest, parts: RequestParts): Promise<ClientAnswer> {
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
  const shape = shapeOf(outcome.answer)
  if (chat.messages.length > MANY_MESSAGES) await nextSlice()
  // Reports must not keep the answer from the client.
  const told = failures.attempt('observation', null, () => {
    const prefixCause = answered === null ? parts.prefixCause(request) : 'foldgate'
    const report = readReport(request, outlook, prefixCause)
    const headers = answerHeaders(report, heldUsage(outcome, shape, answers))
    reports.begin(report, heldMessages(request, outcome.form))
    return { report, headers }
  })
  const hidesUsage = outcome.asksUsage && shape === 'stream'
  return clientAnswer(
    {
      answer: outcome.answer,
      held: outcome.held,
      headers: told?.headers ?? { 'x-foldgate-attempts': String(request.sending.attempts) },
      report: told?.report ?? null,
      lesson,
      observer: joined?.observer ?? observeAnswer(shape, answers, outcome.facts),
      usageHider: hidesUsage ? (answers.usageHider?.() ?? null) : null,
      total: joined?.total ?? null,
      release: body.release,
    },
    parts,
  )
}

// --- internal ---

/**
 * An answer that is settled on, with all that its end needs. It refers to neither the request's body nor its view, unless a reply
 * may take several answers: an answer may flow for minutes, and they must not stay in memory for as long.
 */
type Settled = Pick<ClientAnswer, 'answer' | 'held' | 'headers'> & {
  /** Null if it could not be made. */
  readonly report: RequestReport | null
  /** What its end is to be compared with; null if that could not be said. */
  readonly lesson: Lesson | null
  /** Reads along. */
  readonly observer: AnswerObserver
  /** What takes the usage out that a stream states, if it was asked for, and not by the client. */
  readonly usageHider: UsageHider | null
  /** How often a reply of several answers went on, and what all of them cost; null if it is one. */
  readonly total: JoinedReply['total'] | null
  /** Gives the body's bytes back to the budget, once the answer is over. */
  readonly release: () => void
}

/** The answer for the client: who delivers it reads along, and what it taught is remembered at its end. */
function clientAnswer(
  { answer, held, headers, report, lesson, observer, usageHider, total, release }: Settled,
  { failures, learning, reports }: RequestParts,
): ClientAnswer {
  return {
    answer,
    held,
    headers,
    transform: usageHider === null ? null : hidingUsage(usageHider),
    tap: observer.tap,
    ended: ({ outcome }) => {
      release()
      const seen = failures.attempt('observation', null, observer.end)
      if (seen !== null && lesson !== null) {
        const isEntire = outcome === 'finished'
        failures.attempt('observation', undefined, learning.answered, lesson, seen, isEntire)
      }
      if (report === null) return
      const { usage, ...counts } = total?.() ?? oneAnswer
      reports.end(report, {
        ...counts,
        outcome,
        usage: usage ?? seen?.usage ?? null,
        answeredBy: seen?.model ?? null,
        removedThoughts: seen?.removedThoughts ?? null,
        cacheMiss: seen?.cacheMiss ?? null,
      })
    },
  }
}

/** To look at so many once more takes milliseconds. */
const MANY_MESSAGES = 4_096

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

/**
 * What an answer has stated of its usage by the time that it goes on to the client; null if nothing of it was held back, or it
 * had said nothing of that.
 */
function heldUsage({ held, facts }: Judged, shape: AnswerShape | null, answers: Answers): Usage | null {
  if (facts !== undefined) return facts.usage
  const bytes = held.reduce((sum, piece) => sum + piece.length, 0)
  if (shape === null || bytes === 0 || bytes > READ_AGAIN_BYTES_MAX) return null
  const text = Buffer.concat(held).toString('utf8')
  if (shape === 'json') return answers.read(parseAnswerText(text))?.usage ?? null
  const reader = createEventReader({
    eventCharactersMax: READ_AGAIN_BYTES_MAX,
    streamType: answers.streamType,
  })
  let usage: Usage | null = null
  for (const event of reader.feed(text).map(answers.openStream()))
    if (event.kind === 'facts') usage = event.facts.usage ?? usage
  return usage
}

/** What is read once more, for a header: in a fraction of a millisecond. */
const READ_AGAIN_BYTES_MAX = 65_536

const oneAnswer: ReturnType<JoinedReply['total']> = { recalls: 0, continuations: 0, usage: null }
