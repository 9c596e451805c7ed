import type { RecallOffer, Prepared, Outcome, Send } from '../request.ts'
import type { Cancellation } from '../../upstream/cancellation.ts'
import { recoverFromOverflow } from '../send/recover.ts'
import type { Sending } from '../send/sending.ts'
import { askForUsage } from '../send/usage-in-streams.ts'
import { addedTurn } from './added-turn.ts'
import { shapeOf, type AnswerShape } from '../../upstream/answer-shape.ts'
import { readPlain } from './join-plain.ts'
import { withTool } from '../../proxy/recall/recall-offer.ts'

/** A request with further messages, as JSON, behind its own. */
export type FurtherRequest = {
  readonly prepared: Prepared
  readonly turns: readonly string[]
  readonly offersRecall: boolean
}

export type SendFurtherOptions = {
  readonly once: Send
  readonly sending: Pick<Sending, 'usage' | 'recover'>
  /** The shape of the first answer. */
  readonly shape: AnswerShape
  readonly offer: RecallOffer | null
  /** Whether the first answer was asked for its usage: its event is hidden from then on, or not. */
  readonly asksUsage: boolean
  readonly signal: Cancellation
}

/**
 * Sends further requests: in a smaller form, where one is refused as too long, like any request. An answer that is read
 * whole is read here; rejects where the client left meanwhile.
 */
export function sendFurther(options: SendFurtherOptions): (further: FurtherRequest) => Promise<Outcome> {
  const { once, sending, shape, offer, asksUsage, signal } = options

  return async function sendOneFurther({ prepared, turns, offersRecall }) {
    const sendWithTurns: Send = async (form) => {
      const added = addedTurn(form, turns)
      const sent = await once(offersRecall && offer !== null ? withTool(added, offer) : added)
      return { ...sent, prepared: form }
    }
    const send = asksUsage ? askForUsage(sending.usage)(sendWithTurns) : sendWithTurns
    const outcome = await recoverFromOverflow(sending.recover)(send)(prepared)
    if (shape !== 'json' || shapeOf(outcome.answer) !== 'json') return outcome
    const read = await readPlain(outcome)
    signal.throwIfAborted()
    return read
  }
}
