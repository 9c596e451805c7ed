import { originalForm, placedAnew } from '../compact/forms.ts'
import type { Form, Send, Sending } from '../request.ts'
import { clamped } from './output-limit.ts'
import { countedMeasure } from '../measure/measure-request.ts'
import type { RequestParts } from '../parts.ts'
import { isAnswered, isOurDoing, sendAgain, standing } from './outcome.ts'
import { thoughtRefusalOf } from './refused-thoughts.ts'

/**
 * A rewritten request that is refused for what may be our doing is sent again: with user messages joined
 * where the refusal is about roles or order, and as the client's own bytes where that is not it or does
 * not help (P2). Overflow, authentication, rates and content policy are not our doing.
 */
export const restoreOnRefusal =
  (parts: RequestParts) =>
  (send: Send): Send =>
    async function sendRestoring(form, sending) {
      const first = await send(form, sending)
      if (!form.isRewritten || !isOurDoing(first)) return first
      // The client's own bytes hold the same thoughts and more.
      if (thoughtRefusalOf(first, form.chat.dialect) === 'stale') return first
      let last = first
      const { refused, request } = sending
      const isOrder = first.classification?.class === 'order'
      const joined =
        isOrder && !refused.has('strict') ? await underStrictPlacement(form, sending, parts) : null
      if (joined !== null) {
        const second = await sendAgain(first, () => send(joined, sending))
        if (second === null) return standing(first)
        if (isAnswered(second)) parts.models.set(request.modelKey, 'placement', 'strict', 'refusal')
        else refused.add('strict')
        if (!isOurDoing(second)) return { ...second, remedy: 'restored' }
        last = second
      }
      if (refused.has('original')) return last
      refused.add('original')
      const { received, measure, chat } = request
      const original = originalForm(received, measure?.incomingTokens ?? chat.bytes.length)
      const third = await sendAgain(last, () => send(original, sending))
      if (third === null) return standing(last)
      // If joining was refused too, this view was at fault: the next one may be welcome. If the refused request
      // asked for usage, that may have been the reason: the next one goes without and shows. A server's passing
      // trouble also ends at the second try: only a refusal of the request itself teaches.
      const isCause = joined === null && (!first.asksUsage || isOrder) && first.answer.status !== 500
      if (isAnswered(third) && isCause) parts.models.set(request.modelKey, 'placement', 'original', 'refusal')
      return { ...third, remedy: 'restored' }
    }

// --- internal ---

/** The same view with user messages joined; null where that changes nothing. */
function underStrictPlacement(form: Form, sending: Sending, parts: RequestParts): Promise<Form | null> {
  const { request } = sending
  return parts.failures.around('compaction', null, async () => {
    if (request.profile.template !== 'auto' || form.strict || !form.isRewritten) return null
    const { counted } = await countedMeasure(sending, parts)
    if (counted === null) return null
    const compaction = form.compacted?.compaction ?? null
    const placed = await placedAnew({ ...request, strict: true }, counted, compaction, parts)
    // A conversation that was only repaired may have nothing to join.
    if (!placed.strict) return null
    const { clampedOutputTokens } = form
    return clampedOutputTokens === null ? placed : clamped(placed, clampedOutputTokens)
  })
}
