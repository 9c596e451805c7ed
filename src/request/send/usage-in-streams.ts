import type { Form, Outcome, Send } from '../request.ts'
import { headerValue } from '../../upstream/credential.ts'
import { isUntouched, withReplaced } from './outgoing-body.ts'
import type { RequestParts } from '../parts.ts'
import { isAnswered, isOurDoing, sendAgain, standing } from './outcome.ts'
import { refusesUsage, usageRefusalIn, type UsageRefusal } from './usage-refusals.ts'

/**
 * Asks for the usage of a streamed answer where the client did not: calibration needs it, and the event with it
 * is hidden again (`hide-usage.ts`). A refusal that speaks of it is answered by the same form without.
 */
export const askForUsage =
  ({ models, upstreams, usageInStreams }: RequestParts) =>
  (send: Send): Send =>
    async function sendAsking(form, sending) {
      const { request, refused } = sending
      const { modelKey, upstreamName, profile } = request
      // Once anything of ours was refused, this request is tried with as little of ours as may be.
      const mayAsk =
        form.chat.body.usageRequest !== null &&
        !profile.observe &&
        !refused.has('usage') &&
        models.get(modelKey, 'usage') === null &&
        !refusesUsage(upstreams.addressOf(upstreamName).hostname)
      const asking = mayAsk ? withUsageAsked(form, usageInStreams) : null
      if (asking === null) {
        const outcome = await send(form, sending)
        if (sending.isUsageSuspected && isAnswered(outcome))
          models.set(modelKey, 'usage', 'guessed', 'refusal')
        return outcome
      }
      const asked: Outcome = { ...(await send(asking, sending)), form, asksUsage: true }
      if (!isOurDoing(asked)) return asked
      refused.add('usage')
      const reason = reasonOf(asked)
      // A body that is the client's own but for this can be refused for nothing else.
      if (reason === 'order' || (reason === 'opaque' && form.isRewritten)) {
        sending.isUsageSuspected = reason === 'opaque'
        return asked
      }
      const plain = await sendAgain(asked, () => send(form, sending))
      if (plain === null) return standing(asked)
      if (isAnswered(plain))
        models.set(modelKey, 'usage', reason === 'opaque' ? 'guessed' : 'named', 'refusal')
      return plain
    }

/** The request with the addition; null where nothing is to be asked. `when`: see `usage.in_streams`. */
export function withUsageAsked(form: Form, when: RequestParts['usageInStreams']): Form | null {
  const addition = form.chat.body.usageRequest
  if (addition === null || when === 'never') return null
  if (when === 'rewritten' && isUntouched(form)) return null
  return { ...form, pieces: withReplaced(form.pieces, addition.at, addition.text) }
}

// --- internal ---

function reasonOf(refused: Outcome): UsageRefusal | 'order' {
  const isReadable = headerValue(refused.answer.rawHeaders, 'content-encoding') === null
  const said = isReadable ? usageRefusalIn(Buffer.concat(refused.held).toString('utf8')) : 'opaque'
  return said !== 'named' && refused.classification?.class === 'order' ? 'order' : said
}
