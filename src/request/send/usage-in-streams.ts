import type { Form, Outcome, Send } from '../request.ts'
import { headerValue } from '../../upstream/credential.ts'
import { isUntouched, withReplaced } from './outgoing-body.ts'
import type { SendParts, Sending } from './sending.ts'
import { isAnswered, isOurDoing, sendAgain, standing } from './outcome.ts'
import { refusesUsage, usageRefusalIn, type UsageRefusal } from './usage-refusals.ts'

/**
 * Asks for the usage of a streamed answer where the client did not: calibration needs it, and the event with it
 * is hidden again (`hide-usage.ts`). A refusal that speaks of it is answered by the same form without.
 */
export const askForUsage =
  (sending: Sending) =>
  (send: Send): Send => {
    const { request, parts } = sending
    // Whatever was refused for our doing: what this request is tried with next has as little of ours as may be.
    let isOver = false
    let isSuspected = false

    function learnRefusal(how: 'named' | 'guessed'): void {
      parts.models.set(request.modelKey, 'usage', how, 'refusal')
    }

    return async function sendAsking(form) {
      const asking = isOver ? null : withUsageAsked(form, whenAsked(sending))
      if (asking === null || !mayAsk(sending)) {
        const outcome = await send(form)
        if (isSuspected && isAnswered(outcome)) learnRefusal('guessed')
        return outcome
      }
      const asked: Outcome = { ...(await send(asking)), form, asksUsage: true }
      if (!isOurDoing(asked)) return asked
      isOver = true
      const reason = reasonOf(asked)
      // A body that is the client's own but for this has nothing else that it could be.
      if (reason === 'order' || (reason === 'opaque' && form.isRewritten)) {
        isSuspected = reason === 'opaque'
        return asked
      }
      const plain = await sendAgain(asked, () => send(form))
      if (plain === null) return standing(asked)
      if (isAnswered(plain)) learnRefusal(reason === 'opaque' ? 'guessed' : 'named')
      return plain
    }
  }

/** The request with the addition; null where nothing is to be asked. `when`: see `usage.in_streams`. */
export function withUsageAsked(form: Form, when: SendParts['usageInStreams']): Form | null {
  const addition = form.chat.completion.usageAddition
  if (addition === null || when === 'never') return null
  if (when === 'rewritten' && isUntouched(form)) return null
  return { ...form, pieces: withReplaced(form.pieces, addition.at, addition.text) }
}

// --- internal ---

function whenAsked({ request, parts }: Sending): SendParts['usageInStreams'] {
  return request.profile.observe ? 'never' : parts.usageInStreams
}

/** Whether there is any use in asking this upstream for this model, and none known that refuses it. */
function mayAsk({ request, parts }: Sending): boolean {
  return (
    parts.models.get(request.modelKey, 'usage') === null &&
    !refusesUsage(parts.upstreams.addressOf(request.upstreamName).origin)
  )
}

function reasonOf(refused: Outcome): UsageRefusal | 'order' {
  const isReadable = headerValue(refused.answer.rawHeaders, 'content-encoding') === null
  const said = isReadable ? usageRefusalIn(Buffer.concat(refused.held).toString('utf8')) : 'opaque'
  return said !== 'named' && refused.classification?.class === 'order' ? 'order' : said
}
