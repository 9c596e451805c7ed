import { noteRecallRefused } from '../../models/recall-refusals.ts'
import { hasSchema, withTool } from '../../proxy/recall/recall-offer.ts'
import type { Send } from '../request.ts'
import type { Sending } from './sending.ts'
import { isAnswered, isOurDoing, sendAgain, standing } from './outcome.ts'

/** Offers the model its tool. A refusal that may be on account of it is answered by the same form without. */
export const offerRecall =
  ({ request, parts }: Sending) =>
  (send: Send): Send => {
    const { recall, chat, modelKey } = request
    if (recall === null) return send
    let isOver = false

    return async function sendOffering(form) {
      if (isOver) return send(form)
      const offered = { ...(await send(withTool(form, recall))), form, offersRecall: true }
      // Where messages are in an order that the server does not take, the tool is not why.
      if (!isOurDoing(offered) || offered.classification?.class === 'order') return offered
      isOver = true
      const plain = await sendAgain(offered, () => send(form))
      if (plain === null) return standing(offered)
      // A server's passing trouble also ends at the second try.
      if (isAnswered(plain) && offered.answer.status !== 500)
        noteRecallRefused(parts.models, modelKey, hasSchema(chat))
      return plain
    }
  }
