import type { ThoughtRefusal } from '../../formats/answer-contract.ts'
import { originalForm, placedAnew, thoughtfulForm, thoughtlessForm } from '../compact/forms.ts'
import { isStrict } from '../model-lessons.ts'
import { countedIn } from '../measure/measure-request.ts'
import type { Eventual } from '../../scheduling/drive.ts'
import type { RequestParts } from '../request-parts.ts'
import type { Dialect } from '../../formats/contract.ts'
import { withFreeThoughts } from '../read/read-chat.ts'
import type { Chat, Form, Judged, Outcome, PreparedRequest, Sending } from '../request.ts'
import { isAnswered, isOurDoing, readableText, type Retrying, sendAgain } from './outcome.ts'
import { bytesOf, clamped } from './outgoing-body.ts'

/**
 * Answers a refusal of the request's thoughts with another form: without all that are older than its end if some do not hold
 * where they stand, unless the client asked to be refused then; with those of all replies that are kept if they are demanded,
 * at Anthropic's own address with those of the newest. What was accepted goes on record, so that the next request is sent alike.
 */
export async function cureThoughts(
  first: Outcome,
  { form, sending, send, parts }: Retrying,
): Promise<Outcome> {
  const refusal = thoughtRefusalOf(first, form.chat.dialect)
  if (refusal === null || sending.request.profile.observe) return first
  const cured = await curedForm(form, refusal, sending, parts)
  if (cured === null) return first
  const second = await sendAgain(first, () => send(cured, sending))
  if (second === null) return first
  if (!isAnswered(second)) return second
  const { request } = sending
  const said = refusal === 'stale' ? 'bound' : isVendors(request, parts) ? 'newest-kept' : 'kept'
  if (refusal === 'missing' || request.chat.signedMessages !== undefined)
    parts.models.set(request.modelKey, 'thoughts', said, 'refusal')
  const compaction = cured.compacted?.compaction ?? null
  if (compaction !== null) parts.records.replace(request, compaction)
  return { ...second, remedy: 'restored', refusedThoughts: refusal }
}

/**
 * A rewritten request that is refused for what may be our doing is sent again: with user messages joined
 * where the refusal is about roles or order, and as the client's own bytes where that is not it or does
 * not help (P2). Overflow, authentication, rates and content policy are not our doing.
 */
export async function restoreOnRefusal(
  first: Outcome,
  { form, sending, send, parts }: Retrying,
): Promise<Outcome> {
  if (!form.isRewritten || !isOurDoing(first)) return first
  // The client's own bytes hold the same thoughts and more.
  if (thoughtRefusalOf(first, form.chat.dialect) === 'stale') return first
  let last = first
  const { refused, request } = sending
  const isOrder = first.classification?.class === 'order'
  const joined = isOrder && !refused.has('strict') ? await underStrictPlacement(form, sending, parts) : null
  if (joined !== null) {
    const second = await sendAgain(first, () => send(joined, sending))
    if (second === null) return first
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
  if (third === null) return last
  // If joining was refused too, this view was at fault: the next one may be welcome. If the refused request
  // asked for usage, that may have been the reason: the next one goes without and shows. A server's passing
  // trouble also ends at the second try: only a refusal of the request itself teaches.
  const isCause = joined === null && (!first.asksUsage || isOrder) && first.answer.status !== 500
  if (isAnswered(third) && isCause) parts.models.set(request.modelKey, 'placement', 'original', 'refusal')
  return { ...third, remedy: 'restored' }
}

// --- internal ---

/** What an answer has against the thoughts of its request; null if it is no refusal on account of them. */
function thoughtRefusalOf(judged: Judged, { answers }: Dialect): ThoughtRefusal | null {
  if (!isOurDoing(judged)) return null
  const text = readableText(judged)
  return text === null ? null : answers.thoughtRefusal(text)
}

/** The same view with user messages joined; null where that changes nothing. */
function underStrictPlacement(form: Form, sending: Sending, parts: RequestParts): Eventual<Form | null> {
  const { request } = sending
  return parts.failures.around('compaction', null, async () => {
    if (request.profile.template !== 'auto' || form.strict || !form.isRewritten) return null
    const counted = await countedIn(sending, parts)
    const compaction = form.compacted?.compaction ?? null
    const placed = await placedAnew({ ...request, strict: true }, counted, compaction, parts)
    // A conversation that was only repaired may have nothing to join.
    return placed.strict ? clamped(placed, form.clampedOutputTokens) : null
  })
}

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
    const counted = await countedIn(sending, parts)
    const strict = form.strict || isStrict(request, parts.models)
    const isBound = refusal === 'stale' || isVendors(request, parts)
    const chat = rebound(request.chat, isBound)
    const of = { ...request, chat, strict }
    const found = { ...counted, history: { ...counted.history, messages: chat.messages } }
    const from = compaction ?? request.remembered.compaction
    const cured = await (refusal === 'stale'
      ? thoughtlessForm(of, found, from, parts.cache)
      : compaction && thoughtfulForm(of, found, compaction, parts.cache))
    if (cured === null || bodyOf(cured).equals(bodyOf(form))) return null
    return clamped(cured, form.clampedOutputTokens)
  })
}

/** A conversation of which a refusal has said that its signed thoughts are not bound, or that they are after all. */
function rebound(chat: Chat, isBound: boolean): Chat {
  if (!isBound) return withFreeThoughts(chat)
  const { signedMessages, ...plain } = chat
  return { ...plain, messages: signedMessages ?? chat.messages }
}
