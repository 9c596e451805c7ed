import type { Prepared, Outcome, Send } from '../request.ts'
import { headerValue } from '../../upstream/credential.ts'
import { isUntouched, withReplaced } from './outgoing-body.ts'
import { isAnswered, isOurDoing, sendAgain, standing } from './send.ts'
import { usageRefusalIn, type UsageRefusal } from './usage-refusals.ts'

export type UsageOptions = {
  /** `rewritten`: where the body is another than the client's anyway. */
  readonly when: 'rewritten' | 'never' | 'always'
  /** Whether there is any use in asking this upstream for this model, and none known that refuses it. */
  readonly mayAsk: () => boolean
  /** Called when a request was refused for asking. `guessed`: for that or for something else in it. */
  readonly onRefused: (how: 'named' | 'guessed') => void
}

/**
 * Asks for the usage of a streamed answer where the client did not: calibration needs it, and the event with it
 * is hidden again (`hide-usage.ts`). A refusal that speaks of it is answered by the same form without.
 */
export const askForUsage =
  (options: UsageOptions) =>
  (send: Send): Send => {
    // Whatever was refused for our doing: what this request is tried with next has as little of ours as may be.
    let isOver = false
    let isSuspected = false

    return async function sendAsking(prepared) {
      const asking = isOver ? null : withUsageAsked(prepared, options)
      if (asking === null) {
        const outcome = await send(prepared)
        if (isSuspected && isAnswered(outcome)) options.onRefused('guessed')
        return outcome
      }
      const asked: Outcome = { ...(await send(asking)), prepared, asksUsage: true }
      if (!isOurDoing(asked)) return asked
      isOver = true
      const reason = reasonOf(asked)
      // A body that is the client's own but for this has nothing else that it could be.
      if (reason === 'order' || (reason === 'opaque' && prepared.isRewritten)) {
        isSuspected = reason === 'opaque'
        return asked
      }
      const plain = await sendAgain(asked, () => send(prepared))
      if (plain === null) return standing(asked)
      if (isAnswered(plain)) options.onRefused(reason === 'opaque' ? 'guessed' : 'named')
      return plain
    }
  }

/** The request with the addition; null where nothing is to be asked. */
export function withUsageAsked(
  prepared: Prepared,
  { when, mayAsk }: Pick<UsageOptions, 'when' | 'mayAsk'>,
): Prepared | null {
  const addition = prepared.chat.completion.usageAddition
  if (addition === null || when === 'never') return null
  if (when === 'rewritten' && isUntouched(prepared)) return null
  if (!mayAsk()) return null
  return { ...prepared, pieces: withReplaced(prepared.pieces, addition.at, addition.text) }
}

// --- internal ---

function reasonOf(refused: Outcome): UsageRefusal | 'order' {
  const isReadable = headerValue(refused.answer.rawHeaders, 'content-encoding') === null
  const said = isReadable ? usageRefusalIn(Buffer.concat(refused.held).toString('utf8')) : 'opaque'
  return said !== 'named' && refused.classification?.class === 'order' ? 'order' : said
}
