import { noteRecallRefused } from '../../models/recall-refusals.ts'
import { hasSchema, withTool } from '../recall/recall-offer.ts'
import type { Send } from '../request.ts'
import type { RequestParts } from '../parts.ts'
import { isAnswered, isOurDoing, sendAgain, standing } from './outcome.ts'

/** Offers the model its tool. After a refusal that may be on account of it, the same form is sent without. */
export const offerRecall =
  ({ models }: RequestParts) =>
  (send: Send): Send =>
    async function sendOffering(form, sending) {
      const { recall, chat, modelKey } = sending.request
      if (recall === null || sending.refused.has('recall')) return send(form, sending)
      const offered = { ...(await send(withTool(form, recall), sending)), form, offersRecall: true }
      // If messages are in an order that the server does not take, the tool is not why.
      if (!isOurDoing(offered) || offered.classification?.class === 'order') return offered
      sending.refused.add('recall')
      const plain = await sendAgain(offered, () => send(form, sending))
      if (plain === null) return standing(offered)
      // A server's passing trouble also ends at the second try.
      if (isAnswered(plain) && offered.answer.status !== 500)
        noteRecallRefused(models, modelKey, hasSchema(chat))
      return plain
    }
