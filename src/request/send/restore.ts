import { formRequest } from '../compact.ts'
import { asItCame, placedAnew } from '../compact/forms.ts'
import type { Form, Outcome, Send } from '../request.ts'
import { clamped } from './recover.ts'
import { countedMeasure, type Sending } from './sending.ts'
import { isAnswered, isOurDoing, sendAgain, standing } from './outcome.ts'

/**
 * A rewritten request that is refused for what may be our doing is sent again: with user messages joined
 * where the refusal is about roles or order, and as the client's own bytes where that is not it or does
 * not help (P2). Overflow, authentication, rates and content policy are not our doing.
 */
export const restoreOnRefusal =
  (sending: Sending) =>
  (send: Send): Send => {
    // What did not help once in this request does not help a smaller view either.
    const spent = { strict: false, original: false }

    async function restored(form: Form, first: Outcome): Promise<Outcome> {
      let refused = first
      const isOrder = first.classification?.class === 'order'
      const joined = isOrder && !spent.strict ? await underStrictPlacement(sending, form) : null
      if (joined !== null) {
        const second = await sendAgain(first, () => send(joined))
        if (second === null) return standing(first)
        if (isAnswered(second)) learnPlacement(sending, 'strict', first)
        else spent.strict = true
        if (!isOurDoing(second)) return { ...second, remedy: 'restored' }
        refused = second
      }
      if (spent.original) return refused
      spent.original = true
      const { received, measure, chat } = sending.request
      const original = asItCame(received, measure?.incomingTokens ?? chat.bytes.length)
      const last = await sendAgain(refused, () => send(original))
      if (last === null) return standing(refused)
      // Where joining was refused too, this view was at fault: the next one may be welcome. Where the refused
      // request asked for usage, that may have been it: the next one goes without and shows.
      if (isAnswered(last) && joined === null && (!first.asksUsage || isOrder))
        learnPlacement(sending, 'original', first)
      return { ...last, remedy: 'restored' }
    }

    return async function sendRestoring(form) {
      const first = await send(form)
      return form.isRewritten && isOurDoing(first) ? restored(form, first) : first
    }
  }

// --- internal ---

/** The same view with user messages joined; null where that changes nothing. */
function underStrictPlacement(sending: Sending, form: Form): Promise<Form | null> {
  const { request, parts } = sending
  return parts.failures.around('compaction', null, async () => {
    if (request.profile.template !== 'auto' || form.strict || !form.isRewritten) return null
    const { counted } = await countedMeasure(sending)
    if (counted === null) return null
    const compaction = form.compacted?.compaction ?? null
    const placed = await placedAnew(formRequest(request, true), counted, compaction, parts)
    // What was only repaired may have nothing to join.
    if (!placed.strict) return null
    const { clampedOutputTokens } = form
    return clampedOutputTokens === null ? placed : clamped(placed, clampedOutputTokens)
  })
}

/**
 * Remembers what was accepted after a refusal. A server's passing trouble also ends at the second try: only a refusal of
 * the request itself teaches, and one that speaks of the order of messages is that.
 */
function learnPlacement({ request, parts }: Sending, how: 'strict' | 'original', { answer }: Outcome): void {
  if (how === 'strict' || answer.status !== 500)
    parts.models.set(request.modelKey, 'placement', how, 'refusal')
}
