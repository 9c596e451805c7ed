import type { Classification } from '../../overflow/classification.ts'
import { nextAttempt } from '../../overflow/tighten.ts'
import { tightenedForm, type SmallerFormOptions } from '../compact/forms.ts'
import { isStrict } from '../learnt.ts'
import { knownWindow } from '../measure/measure.ts'
import { promptTokensOf } from '../measure/sent-prompt.ts'
import type { Form, Outcome, PreparedRequest, Retry, Send, Sending } from '../request.ts'
import { countedMeasure } from '../measure/measure-request.ts'
import type { Eventual } from '../../scheduling/eventual.ts'
import type { RequestParts } from '../parts.ts'
import { isAnswered, isTooLarge, sendAgain, standing } from './outcome.ts'
import { clamped, countSent } from './output-limit.ts'

/**
 * Recovers from overflow within the same request: tighten and send again, at most `overflow.attempts`
 * times, the last time in the smallest form. Where nothing helps, the upstream's last answer is the
 * client's, unchanged.
 */
export const recoverFromOverflow =
  (parts: RequestParts): Retry =>
  (send) =>
  async (first, _form, sending) =>
    isTooLarge(first) ? recover(first, sending, send, parts) : first

/** A form of at most so many of our tokens, where more is to follow it; null where there is none, or nothing may be compacted. */
export async function fittingForm(
  form: Form,
  budgetTokens: number,
  sending: Sending,
  parts: RequestParts,
): Promise<Form | null> {
  const { profile, whyUntouched } = sending.request
  if (profile.trigger === 'off' || whyUntouched !== null) return null
  const how = {
    budgetTokens,
    keepRecent: profile.keep.recent_messages,
    smallest: false,
    fills: false,
    refusedTokens: form.sentTokens,
  }
  const smaller = await tightened(form, how, sending, parts)
  if (smaller === null || smaller.sentTokens > budgetTokens) return null
  recordForm(smaller, sending, parts)
  return smaller
}

/** Learns from a refusal that may be cured, as it comes. */
export function learnFromRefusal(
  { classification, form, sentTokens }: RefusedForm,
  request: PreparedRequest,
  { models, windows, serverWindows }: RequestParts,
): void {
  const { modelKey, measure, remembered } = request
  if (classification.class === 'overflow')
    windows.exceeded(modelKey, promptTokensOf(measure, form, sentTokens))
  // Where only original bytes worked, these were too long.
  if (models.get(modelKey, 'placement') === 'original') models.forget(modelKey, 'placement')
  windows.limitRefused(modelKey, classification)
  // A window that is known already may be our own word, by which an answer was judged.
  if (classification.window?.tokens !== knownWindow(measure)?.tokens) {
    const expectedTokens = promptTokensOf(measure, form, sentTokens)
    const outputTokens = outputLimitTokens(request)
    windows.refused(modelKey, remembered.conversation, { classification, expectedTokens, outputTokens })
  }
  const stated = models.get(modelKey, 'stated')
  if (stated !== null && classification.window?.tokens !== stated.tokens)
    serverWindows.refresh(request.question)
}

// --- internal ---

/** A form of the request that was refused as too large, with our own count of its prompt. */
type RefusedForm = {
  readonly classification: Classification
  readonly form: Form
  readonly sentTokens: number
  /** The status that it was refused with. */
  readonly status: number
}

async function recover(first: Outcome, sending: Sending, send: Send, parts: RequestParts): Promise<Outcome> {
  const { request } = sending
  const { measure, profile } = request
  const { overflow } = profile
  let outcome = first
  let budgetTokens = measure?.budgetTokens ?? Number.MAX_SAFE_INTEGER
  let keepRecent = profile.keep.recent_messages
  /** A limit that was lowered once stays so: with its own value every further view would be refused. */
  let clampedTokens = first.form.clampedOutputTokens
  const refusedForms: RefusedForm[] = []
  for (let attempt = 1; isTooLarge(outcome); attempt += 1) {
    const { classification, form } = outcome
    sending.wasTooLong = true
    const sentTokens = await countSent(form, sending, parts)
    // A form that could not be made smaller was not refused once more.
    if (refusedForms.at(-1)?.form !== form) {
      const refused = { classification, form, sentTokens, status: outcome.answer.status }
      refusedForms.push(refused)
      learnFromRefusal(refused, request, parts)
    }
    const next = nextAttempt({
      attempt,
      attemptsMax: profile.observe ? 0 : overflow.attempts,
      classification: credible(classification, request, parts),
      sentTokens,
      budgetTokens,
      keepRecent,
      minRecent: overflow.min_recent,
      outputLimitTokens: clampedTokens ?? outputLimitTokens(request),
      outputLeastTokens: request.chat.body.outputLeastTokens,
      outputReserveTokens: profile.window.output_reserve,
      window: knownWindow(measure),
      ratio: measure?.rate.ratio ?? 1,
      clampOutput: overflow.clamp_output,
    })
    if (next.kind === 'give-up') return outcome
    let smaller: Form | null = form
    let outputTokens: number | null
    if (next.kind === 'clamp') outputTokens = next.outputTokens
    else {
      smaller = await tightened(form, { ...next, refusedTokens: sentTokens }, sending, parts)
      outputTokens = next.clampOutputTokens ?? clampedTokens
      if (smaller === null && next.outputTokensBeside !== null) {
        smaller = form
        outputTokens = next.outputTokensBeside
      }
      budgetTokens = next.budgetTokens
      keepRecent = next.keepRecent
      // Where this budget takes nothing away, a later and smaller one may.
      if (smaller === null && !next.smallest) continue
    }
    if (smaller === null) return outcome
    if (outputTokens !== null) {
      smaller = clamped(smaller, outputTokens)
      clampedTokens = outputTokens
    }
    const [refused, nextForm]: [Outcome, Form] = [outcome, smaller]
    const again = await sendAgain(refused, () => send(nextForm, sending))
    if (again === null) return standing(refused)
    outcome = { ...again, remedy: 'recovered' }
  }
  if (isAnswered(outcome)) learnFromRecovery(refusedForms, outcome.form, sending, parts)
  return outcome
}

/** A smaller form of what was refused; null where nothing more can be taken away. */
export function tightened(
  refused: Form,
  how: Omit<SmallerFormOptions, 'previous'>,
  sending: Sending,
  parts: RequestParts,
): Eventual<Form | null> {
  const { request } = sending
  return parts.failures.around('recovery', null, async () => {
    const { counted } = await countedMeasure(sending, parts)
    if (counted === null) return null
    const previous = refused.compacted?.compaction ?? request.remembered.compaction
    const strict = isStrict(request, parts.models)
    return tightenedForm({ ...request, strict }, counted, { ...how, previous }, parts)
  })
}

/** A refusal without the numbers that contradict earlier answers. */
function credible(
  classification: Classification,
  request: PreparedRequest,
  parts: RequestParts,
): Classification {
  const { window } = classification
  const isFalse = window !== null && parts.windows.isContradicted(request.modelKey, window.tokens)
  return isFalse ? { ...classification, window: null, promptTokens: null, totalTokens: null } : classification
}

/** Learns from an accepted form about those refused before it: only now it is certain that their size was the reason. */
function learnFromRecovery(
  refused: readonly RefusedForm[],
  accepted: Form,
  sending: Sending,
  parts: RequestParts,
): void {
  const { request } = sending
  // Without numbers a refusal says nothing of a size, unless a smaller form is accepted.
  const sizes = refused
    .filter(isUnstated)
    .map(({ form, sentTokens }) => promptTokensOf(request.measure, form, sentTokens))
  if (sizes.length > 0)
    parts.windows.recovered(request.modelKey, request.remembered.conversation, Math.min(...sizes))
  recordForm(accepted, sending, parts)
}

/**
 * Records the compaction of a smaller form, so that the next request goes on from it. Not behind the beginning of a reply that
 * is bound: the client has its thoughts and sends them back, and they hold behind the form before.
 */
export function recordForm(
  { compacted }: Form,
  { request, isReplyBound }: Sending,
  { records }: RequestParts,
): void {
  if (isReplyBound) return
  const compaction = compacted?.compaction ?? null
  if (compaction === null || compaction === request.form.compacted?.compaction) return
  records.replace(request, compaction)
}

/** An overflow that says nothing of its window; a server in trouble, or one that finds nothing, may mean something else. */
function isUnstated({ classification, status }: RefusedForm): boolean {
  const isRefusal = status === 200 || status === 400 || status === 422
  return isRefusal && classification.class === 'overflow' && classification.window === null
}

function outputLimitTokens({ chat }: PreparedRequest): number | null {
  return chat.body.outputLimit?.tokens ?? null
}
