import { anyHasBoundThoughts } from '../../subject/subject.ts'
import { recallAnswers } from '../recall/recall-answers.ts'
import { shapeOf, type AnswerShape } from '../../upstream/answer-shape.ts'
import { observeAnswer } from '../observe.ts'
import type { SendingParts } from '../parts.ts'
import type { AnsweredRequest, JoinedReply, Outcome, ReadRequest, RepliedRequest } from '../request.ts'
import { isAnswered } from '../send/outcome.ts'
import { fittingForm } from '../send/recover.ts'
import { createFurtherAnswers } from './further-answers.ts'
import { joinPlain } from './join-plain.ts'
import { joinStream } from './join-stream.ts'
import { sendFurther } from './send-further.ts'
import { parsedBody } from './whole-answer.ts'

/** The stage that makes one reply of several answers, if the profile allows that: most replies are the answer that came. */
export async function replyTo(request: AnsweredRequest, parts: SendingParts): Promise<RepliedRequest> {
  const { recall, profile, outcome } = request
  // What a larger model answers in another one's place is passed on as it comes.
  const mayGoOn = (recall !== null || profile.continuation.max > 0) && outcome.fallback === undefined
  const joined = mayGoOn ? await joinedReply(request, parts) : null
  return joined === null ? { ...request, joined } : { ...request, outcome: joined.outcome, joined }
}

// --- internal ---

/** Null if the reply can be nothing but the answer that came. */
function joinedReply(
  request: AnsweredRequest,
  parts: SendingParts,
): JoinedReply | Promise<JoinedReply> | null {
  const { profile, chat, recall, outcome, measure, sending } = request
  const offer = outcome.offersRecall ? recall : null
  const rules = { toolName: offer?.name ?? null, continues: mayContinue(request) }
  if (rules.toolName === null && !rules.continues) return null
  const shape = isAnswered(outcome) ? shapeOf(outcome.answer) : null
  if (shape === null) return null
  const { form } = outcome
  const { failures } = parts
  sending.isReplyBound = form.chat.dialect.replies.bindsThoughts || anyHasBoundThoughts(form.chat.messages)
  const counted = form.chat === chat ? (measure?.counted ?? null) : null
  const further = createFurtherAnswers({
    form,
    toolName: rules.toolName,
    recallRounds: profile.recall.rounds,
    continuationsMax: rules.continues ? profile.continuation.max : 0,
    roomTokens: roomTokens(request),
    count: (text) => counted?.subject.count(text) ?? Buffer.byteLength(text),
    send: sendFurther(request, shape, offer, parts),
    fit: (larger, budgetTokens) => fittingForm(larger, budgetTokens, sending, parts),
    goesOn: (next) => goesOn(next, shape),
    answerRecall: recallAnswers(counted),
    failures,
  })
  const join = shape === 'stream' ? joinStream : joinPlain
  return join(outcome, observeAnswer(outcome.answer, request.dialect.answers, outcome.facts), {
    rules,
    further,
    failures,
  })
}

/** Whether a reply goes on in an answer: in one of the same shape, and, where it was read whole, with a reply in it. */
function goesOn(outcome: Outcome, shape: AnswerShape): boolean {
  if (!isAnswered(outcome) || shapeOf(outcome.answer) !== shape) return false
  return shape === 'stream' || outcome.form.chat.dialect.replies.read(parsedBody(outcome)) !== null
}

/**
 * What is left of the budget, by the provider's own count of the prompt as far as that is known. Of a window that turned out
 * smaller only what was taken is known to fit.
 */
function roomTokens({ outcome: { form, remedy }, measure }: AnsweredRequest): number {
  if (measure === null || remedy === 'recovered') return 0
  const { counted, budgetTokens } = measure
  const leftTokens = budgetTokens - form.sentTokens
  const isCounted = counted !== null && (form.compacted?.compaction ?? null) === counted.compaction
  if (!isCounted || counted.anchor === null) return leftTokens
  return leftTokens - counted.differenceTokens - (counted.room.aroundTokens - counted.aroundTokens)
}

/** A reply that has to keep to a schema begins a new one each time, and of several none is the one that was cut. */
function mayContinue({ profile, chat }: ReadRequest): boolean {
  const { repliesWanted, schema, canGoOn } = chat.body
  const isOne = repliesWanted === 1 && canGoOn
  return profile.continuation.max > 0 && !profile.observe && isOne && schema === null
}
