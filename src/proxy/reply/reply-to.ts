import type { Failures } from '../failures.ts'
import type { Measure } from '../measure/measure.ts'
import type { ChatRequest } from '../request/chat-request.ts'
import { isAnswered, type Outcome, type Send } from '../send/send.ts'
import type { Sending } from '../send/sending.ts'
import { askForUsage } from '../send/usage-in-streams.ts'
import { addedTurn } from './added-turn.ts'
import { recoverFromOverflow } from '../send/recover.ts'
import { createFurtherAnswers, type FurtherRequest } from './further-answers.ts'
import { joinReply, type JoinedReply } from './joined-reply.ts'
import { recallAnswers } from './recall-answers.ts'
import { withTool } from './recall-offer.ts'

export type ReplyParts = {
  /** Sends a form of the request as it is. */
  readonly once: Send
  readonly sending: Pick<Sending, 'usage' | 'recover'>
  readonly measure: Measure | null
  readonly failures: Failures
}

/** The reply to a request as one answer; null where it can be nothing but the answer that came. */
export async function replyTo(
  request: ChatRequest,
  outcome: Outcome,
  { once, sending, measure, failures }: ReplyParts,
): Promise<JoinedReply | null> {
  const { profile, chat, recall } = request
  const offer = outcome.offersRecall ? recall : null
  const rules = { toolName: offer?.name ?? null, continues: mayContinue(request) }
  if ((rules.toolName === null && !rules.continues) || !isAnswered(outcome)) return null
  const { prepared } = outcome
  const counted = prepared.chat === chat ? (measure?.counted ?? null) : null

  async function send({ prepared: form, turns, offersRecall }: FurtherRequest): Promise<Outcome> {
    const sendWithTurns: Send = async (smaller) => {
      const added = addedTurn(smaller, turns)
      const sent = await once(offersRecall && offer !== null ? withTool(added, offer) : added)
      return { ...sent, prepared: smaller }
    }
    // Whether usage is asked for was settled with the first answer: its event is hidden from then on, or not.
    const sendOnce = outcome.asksUsage ? askForUsage(sending.usage)(sendWithTurns) : sendWithTurns
    return recoverFromOverflow(sending.recover)(sendOnce)(form)
  }

  const further = createFurtherAnswers({
    prepared,
    toolName: rules.toolName,
    recallRounds: profile.recall.rounds,
    continuationsMax: rules.continues ? profile.continuation.max : 0,
    roomTokens: roomTokens(outcome, measure),
    count: (text) => counted?.subject.count(text) ?? Buffer.byteLength(text),
    send,
    answerRecall: recallAnswers(counted),
    failures,
  })
  return joinReply(outcome, { rules, further })
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
