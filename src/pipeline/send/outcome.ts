import { FoldgateError } from '../../errors.ts'
import type { Classification } from '../../overflow/classification.ts'
import { headerValue } from '../../upstream/credential.ts'
import type { Answer } from '../../upstream/upstreams.ts'
import type { RequestParts } from '../request-parts.ts'
import type { Form, Judged, Outcome, Send, Sending } from '../request.ts'

/**
 * Sends again after a refusal that may be cured; null where that fails on the wire. Then the refusal
 * stands: the client gets the upstream's own error rather than one of ours, if it was read whole.
 */
export async function sendAgain(refused: Outcome, send: () => Promise<Outcome>): Promise<Outcome | null> {
  const isWhole = refused.answer.body.isEnded
  // An answer that is left open keeps its connection, and its place where an upstream takes few at a time.
  if (!isWhole) discard(refused.answer)
  try {
    return await send()
  } catch (error) {
    if (isWhole && error instanceof FoldgateError) return null
    throw error
  }
}

/** What may help after an answer that is not good: resolves with the one that takes its place, or with the same. */
export type Retry = (first: Outcome, retrying: Retrying) => Promise<Outcome>

/** A request of which a form was sent, without good answer so far. */
export type Retrying = {
  readonly form: Form
  readonly sending: Sending
  /** Sends another form, with the retries that stand before this one. */
  readonly send: Send
  readonly parts: RequestParts
}

/** The same way of sending, with these retries after answers that are not good, one after the other. */
export function retrying(send: Send, retries: readonly Retry[], parts: RequestParts): Send {
  return async function sendRetrying(form, sending) {
    let outcome = await send(form, sending)
    for (const [index, retry] of retries.entries()) {
      if (outcome.verdict === 'good') break
      const before = retrying(send, retries.slice(0, index), parts)
      outcome = await retry(outcome, { form, sending, send: before, parts })
    }
    return outcome
  }
}

/** Something of Foldgate's own that forms are sent with. */
export type Addition = {
  readonly name: 'usage' | 'errors' | 'recall'
  /** What is noted of an answer to a form with it. */
  readonly marks: Partial<Outcome>
  /** The form with it; null where it is not to have it. */
  readonly addedTo: (form: Form, sending: Sending) => Form | null
  /** Whether it may be why the form was refused. What else follows from that is noted in `sending`. */
  readonly isWhy: (refused: Outcome, form: Form, sending: Sending) => boolean
  /** The form was refused with it, and answered without. */
  readonly noteRefused: (refused: Outcome, sending: Sending) => void
}

/** The same way of sending, with an addition. After a refusal that may be on account of it the form is sent without. */
export function withAddition(send: Send, { name, marks, addedTo, isWhy, noteRefused }: Addition): Send {
  return async function sendAdding(form, sending) {
    const isWanted = !sending.request.profile.observe && !sending.refused.has(name)
    const adding = isWanted ? addedTo(form, sending) : null
    if (adding === null) return send(form, sending)
    const first: Outcome = { ...(await send(adding, sending)), form, ...marks }
    if (!isOurDoing(first) || !isWhy(first, form, sending)) return first
    sending.refused.add(name)
    const plain = await sendAgain(first, () => send(form, sending))
    if (plain === null) return first
    if (isAnswered(plain) && !isTrouble(first)) noteRefused(first, sending)
    return plain
  }
}

/** Ends an answer that nobody will read. */
export function discard(answer: Answer): void {
  answer.body.destroy()
}

/** An answer, not the upstream's refusal. */
export function isAnswered({ verdict, answer }: Judged): boolean {
  return (verdict === 'good' || verdict === 'empty') && answer.status < 400
}

/** Whether it was answered after it was refused as too long. An upstream's last refusal is no recovery. */
export function isRecovered(outcome: Outcome): boolean {
  return outcome.remedy === 'recovered' && isAnswered(outcome)
}

/**
 * Whether it was refused for what Foldgate made of the request: not for its size, who asks, how often or what. A refusal of
 * the form counts at any status, and as the first event of a stream.
 */
export function isOurDoing({ verdict, answer, classification }: Judged): boolean {
  if (verdict !== 'refused') return false
  const reason = classification?.class ?? 'other'
  return reason === 'order' || (reason === 'other' && refusalStatuses.has(answer.status))
}

/** What was taken of an answer, as text; null if it is encoded. */
export function readableText({ answer, held }: Judged): string | null {
  if (headerValue(answer.rawHeaders, 'content-encoding') !== null) return null
  return Buffer.concat(held).toString('utf8')
}

/** A server in trouble refuses whatever it is asked, and may be well again at the second try. */
export function isTrouble({ answer }: Outcome): boolean {
  return answer.status >= 500
}

/** Whether a smaller request may be accepted; every other refusal is the upstream's word to the client. */
export function isTooLarge(
  outcome: Outcome,
): outcome is Outcome & { readonly classification: Classification } {
  const reason = outcome.verdict === 'good' ? null : outcome.classification?.class
  return reason === 'overflow' || reason === 'output_too_large' || reason === 'payload_too_large'
}

// --- internal ---

/** Statuses with which servers refuse what they cannot make sense of. */
const refusalStatuses: ReadonlySet<number> = new Set([400, 422, 500])
