import type { ChatRequest, Measure, Outcome, Send } from '../request.ts'
import type { Failures } from '../../activity/failures.ts'
import { isAnswered } from '../send/send.ts'
import type { Sending } from '../send/sending.ts'
import { shapeOf } from '../../upstream/answer-shape.ts'
import { goesOn } from './goes-on.ts'
import { createFurtherAnswers } from './further-answers.ts'
import { joinReply, type JoinedReply } from './joined-reply.ts'
import { recallAnswers } from '../../proxy/recall/recall-answers.ts'
import { sendFurther } from './send-further.ts'

export type ReplyParts = {
  /** Sends a form of the request as it is. */
  readonly once: Send
  readonly sending: Pick<Sending, 'usage' | 'recover' | 'fit'>
  readonly measure: Measure | null
  readonly failures: Failures
}

/** The reply to a request as one answer; null where it can be nothing but the answer that came. */
export function replyTo(
  request: ChatRequest,
  outcome: Outcome,
  { once, sending, measure, failures }: ReplyParts,
): Promise<JoinedReply> | null {
  const { profile, chat, recall, exchange } = request
  const offer = outcome.offersRecall ? recall : null
  const rules = { toolName: offer?.name ?? null, continues: mayContinue(request) }
  if (rules.toolName === null && !rules.continues) return null
  const shape = isAnswered(outcome) ? shapeOf(outcome.answer) : null
  if (shape === null) return null
  const { prepared } = outcome
  const counted = prepared.chat === chat ? (measure?.counted ?? null) : null
  const further = createFurtherAnswers({
    prepared,
    toolName: rules.toolName,
    recallRounds: profile.recall.rounds,
    continuationsMax: rules.continues ? profile.continuation.max : 0,
    roomTokens: roomTokens(outcome, measure),
    count: (text) => counted?.subject.count(text) ?? Buffer.byteLength(text),
    send: sendFurther({ once, sending, shape, offer, asksUsage: outcome.asksUsage, signal: exchange.signal }),
    fit: sending.fit,
    goesOn: (next) => goesOn(next, shape),
    answerRecall: recallAnswers(counted),
    failures,
  })
  return joinReply(outcome, shape, { rules, further, failures })
}

// --- internal ---

/** What is left of the budget. Of a window that turned out smaller only what was taken is known to fit. */
function roomTokens({ prepared, remedy }: Outcome, measure: Measure | null): number {
  return measure === null || remedy === 'recovered' ? 0 : measure.budgetTokens - prepared.sentTokens
}

/** A reply that has to keep to a schema begins a new one each time, and of several none is the one that was cut. */
function mayContinue({ profile, chat }: ChatRequest): boolean {
  const { choices, responseFormat } = chat.completion
  return profile.continuation.max > 0 && !profile.observe && choices === 1 && responseFormat === null
}
