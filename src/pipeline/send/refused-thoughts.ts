import type { ThoughtRefusal } from '../../formats/answer-contract.ts'
import { headerValue } from '../../upstream/credential.ts'
import { thoughtfulForm, thoughtlessForm } from '../compact/forms.ts'
import { isStrict } from '../learnt.ts'
import { countedMeasure } from '../measure/measure-request.ts'
import type { Eventual } from '../../scheduling/eventual.ts'
import type { RequestParts } from '../parts.ts'
import type { Dialect } from '../../formats/contract.ts'
import { rebound } from '../free-thoughts.ts'
import type { Form, Judged, PreparedRequest, Retry, Sending } from '../request.ts'
import { isAnswered, isOurDoing, sendAgain, standing } from './outcome.ts'
import { bytesOf } from './outgoing-body.ts'
import { clamped } from './output-limit.ts'

/**
 * Answers a refusal of the request's thoughts with another form: without all that are older than its end if some do not hold
 * where they stand, unless the client asked to be refused then; with those of all replies that are kept if they are demanded,
 * at Anthropic's own address with those of the newest. What was accepted goes on record, so that the next request is sent alike.
 */
export const cureThoughts =
  (parts: RequestParts): Retry =>
  (send) =>
    async function sendCuring(first, form, sending) {
      const refusal = thoughtRefusalOf(first, form.chat.dialect)
      if (refusal === null || sending.request.profile.observe) return first
      const cured = await curedForm(form, refusal, sending, parts)
      if (cured === null) return first
      const second = await sendAgain(first, () => send(cured, sending))
      if (second === null) return standing(first)
      if (!isAnswered(second)) return second
      const { request } = sending
      const said = refusal === 'stale' ? 'bound' : isVendors(request, parts) ? 'newest-kept' : 'kept'
      if (refusal === 'missing' || request.chat.signedMessages !== undefined)
        parts.models.set(request.modelKey, 'thoughts', said, 'refusal')
      const compaction = cured.compacted?.compaction ?? null
      if (compaction !== null) parts.records.replace(request, compaction)
      return { ...second, remedy: 'restored', refusedThoughts: refusal }
    }

/** What an answer has against the thoughts of its request; null if it is no refusal on account of them. */
export function thoughtRefusalOf(judged: Judged, { answers }: Dialect): ThoughtRefusal | null {
  if (!isOurDoing(judged)) return null
  const isReadable = headerValue(judged.answer.rawHeaders, 'content-encoding') === null
  return isReadable ? answers.thoughtRefusal(Buffer.concat(judged.held).toString('utf8')) : null
}

// --- internal ---

const bodyOf = ({ chat, pieces }: Form): Buffer => bytesOf(chat.bytes, pieces)

/** Whether Anthropic itself is asked, which binds what it signs. */
function isVendors({ upstreamName }: PreparedRequest, { upstreams }: RequestParts): boolean {
  return upstreams.addressOf(upstreamName).isAnthropic
}

/** Null if there is none, or the client has decided that it wants to be refused. */
function curedForm(
  form: Form,
  refusal: ThoughtRefusal,
  sending: Sending,
  parts: RequestParts,
): Eventual<Form | null> {
  const { request } = sending
  return parts.failures.around('compaction', null, async () => {
    if (refusal === 'stale' && form.chat.body.wantsStaleRefused) return null
    // What the client itself has left out is not here to be put back.
    const compaction = form.compacted?.compaction ?? null
    if (refusal === 'missing' && compaction === null) return null
    const { counted } = await countedMeasure(sending, parts)
    if (counted === null) return null
    const strict = form.strict || isStrict(request, parts.models)
    const isBound = refusal === 'stale' || isVendors(request, parts)
    const of = rebound({ request: { ...request, strict }, counted }, isBound)
    const from = compaction ?? request.remembered.compaction
    const cured = await (refusal === 'stale'
      ? thoughtlessForm(of.request, of.counted, from, parts.cache)
      : compaction && thoughtfulForm(of.request, of.counted, compaction, parts.cache))
    if (cured === null || bodyOf(cured).equals(bodyOf(form))) return null
    if (form.clampedOutputTokens === null) return cured
    return clamped(cured, form.clampedOutputTokens)
  })
}
