import type { RecallOffer, Send } from '../request.ts'
import { withTool } from '../../proxy/recall/recall-offer.ts'
import { isAnswered, isOurDoing, sendAgain, standing } from './send.ts'

export type OfferOptions = {
  readonly offer: RecallOffer
  /** Called when a request itself was refused with the tool, and accepted without it. */
  readonly onRefused: () => void
}

/** Offers the model its tool. A refusal that may be on account of it is answered by the same form without. */
export const offerRecall =
  (options: OfferOptions | null) =>
  (send: Send): Send => {
    if (options === null) return send
    let isOver = false

    return async function sendOffering(prepared) {
      if (isOver) return send(prepared)
      const offered = { ...(await send(withTool(prepared, options.offer))), prepared, offersRecall: true }
      // Where messages are in an order that the server does not take, the tool is not why.
      if (!isOurDoing(offered) || offered.classification?.class === 'order') return offered
      isOver = true
      const plain = await sendAgain(offered, () => send(prepared))
      if (plain === null) return standing(offered)
      // A server's passing trouble also ends at the second try.
      if (isAnswered(plain) && offered.answer.status !== 500) options.onRefused()
      return plain
    }
  }
