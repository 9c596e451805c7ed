import { withTool } from '../recall/recall-offer.ts'
import { shapeOf, type AnswerShape } from '../../upstream/answer-head.ts'
import type { AnsweredRequest, Form, Outcome, RecallOffer, Send } from '../request.ts'
import { withReplaced } from '../send/outgoing-body.ts'
import { retrying } from '../send/outcome.ts'
import { recoverFromOverflow } from '../send/recover.ts'
import type { SendingParts } from '../parts.ts'
import { askForUsage } from '../send/usage-in-streams.ts'
import { readPlain } from './whole-answer.ts'

/** A form of a request with further messages, as JSON, behind its own. */
export type FurtherRequest = {
  readonly form: Form
  readonly turns: readonly string[]
  readonly offersRecall: boolean
}

/**
 * Sends further requests: in a smaller form, where one is refused as too long, like any request. `shape` is that of the
 * first answer: one that is read whole is read here. Rejects where the client left meanwhile.
 */
export function sendFurther(
  { exchange, outcome: first, sending }: AnsweredRequest,
  shape: AnswerShape,
  offer: RecallOffer | null,
  parts: SendingParts,
): (further: FurtherRequest) => Promise<Outcome> {
  return async function sendOneFurther({ form, turns, offersRecall }) {
    // Whether a further request goes without its usage is found out by itself: what was refused in the one before may have
    // been something else of it.
    sending.refused.delete('usage')
    sending.isUsageSuspected = false
    const sendWithTurns: Send = async (base) => {
      const added = withTurns(base, base === form ? turns : base.chat.dialect.replies.unbound(turns))
      const sent = await parts.senders.once(
        offersRecall && offer !== null ? withTool(added, offer) : added,
        sending,
      )
      return { ...sent, form: base }
    }
    // The first answer was asked for its usage, or not: its event is hidden from then on, or not.
    const send = first.asksUsage ? askForUsage(parts)(sendWithTurns) : sendWithTurns
    const outcome = await retrying(send, [recoverFromOverflow(parts)])(form, sending)
    if (shape !== 'json' || shapeOf(outcome.answer) !== 'json') return outcome
    const read = await readPlain(outcome)
    exchange.signal.throwIfAborted()
    return read
  }
}

/** The form with further messages, as JSON, behind its own. */
function withTurns(form: Form, turns: readonly string[]): Form {
  const at = form.chat.body.history.end - 1
  const text = turns.map((message) => `,${message}`).join('')
  return { ...form, pieces: withReplaced(form.pieces, { start: at, end: at }, text) }
}
