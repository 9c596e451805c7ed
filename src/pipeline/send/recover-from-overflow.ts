import type { Classification } from '../../overflow/classification.ts'
import { limitBeside, nextAttempt } from '../../overflow/tighten.ts'
import { type SmallerFormOptions, tightenedForm } from '../compact/forms.ts'
import { isStrict } from '../model-lessons.ts'
import { knownWindow } from '../measure/measure.ts'
import { promptTokensOf } from '../measure/sent-prompt.ts'
import type { Form, Outcome, PreparedRequest, Sending } from '../request.ts'
import { countedIn } from '../measure/measure-request.ts'
import type { Eventual } from '../../scheduling/drive.ts'
import type { RequestParts } from '../request-parts.ts'
import { noteOf } from '../../models/suspicions.ts'
import { unknownWording } from '../../overflow/classify-error.ts'
import { discard, isAnswered, isTooLarge, readableText, type Retrying, sendAgain } from './outcome.ts'
import { clamped } from './outgoing-body.ts'

/**
 * Recovers from overflow within the same request: tighten and send again, at most `overflow.attempts`
 * times, the last time in the smallest form. Where nothing helps, the upstream's last answer is the
 * client's, unchanged.
 */
export async function recoverFromOverflow(
  first: Outcome,
  { sending, send, parts }: Retrying,
): Promise<Outcome> {
  const { request } = sending
  const { measure, profile } = request
  const { overflow } = profile
  let outcome: Outcome = first
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
    if (again === null) return refused
    outcome = { ...again, remedy: 'recovered' }
  }
  if (refusedForms.length > 0 && isAnswered(outcome))
    learnFromRecovery(refusedForms, outcome.form, sending, parts)
  return outcome
}

/** A form of at most so many of our tokens, where more is to follow it; null where there is none, or nothing may be compacted. */
export async function fittingForm(
  form: Form,
  budgetTokens: number,
  sending: Sending,
  parts: RequestParts,
): Promise<Form | null> {
  const { profile, whyUntouched } = sending.request
  if (profile.trigger === 'off' || whyUntouched !== null) return null
  const how = { budgetTokens, fills: false, refusedTokens: form.sentTokens }
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

/**
 * The form with an output limit that fits beside its prompt, where the server would refuse it on account of its own: it has
 * done so of late.
 */
export async function withFittingLimit(form: Form, sending: Sending, parts: RequestParts): Promise<Form> {
  const { measure, modelKey, profile, whyUntouched } = sending.request
  const { outputLimit, outputLeastTokens } = form.chat.body
  const window = knownWindow(measure)
  if (outputLimit === null || window === null || whyUntouched !== null) return form
  if (!parts.windows.holdsLimit(modelKey, window.tokens)) return form
  const sentTokens = await countSent(form, sending, parts)
  const outputTokens = limitBeside({
    promptTokens: promptTokensOf(sending.measure, form, sentTokens),
    outputLimitTokens: outputLimit.tokens,
    outputLeastTokens,
    window,
    clampOutput: profile.overflow.clamp_output,
  })
  return clamped(form, outputTokens)
}

/** Own count of a form. A request that was not counted before it was sent is counted now. */
async function countSent(form: Form, sending: Sending, parts: RequestParts): Promise<number> {
  if (form.compacted !== null) return form.sentTokens
  const counted = await parts.failures.around('measure', null, () => countedIn(sending, parts))
  const { measure } = sending
  return counted === null || measure === null ? form.sentTokens : measure.incomingTokens
}

/**
 * Answers a refusal that no rule can read by one experiment, where the prompt is large: the same under half of its size. If
 * that is answered, the conversation goes on from there, and the window is believed to lie below once it happened twice; if
 * not, the client gets the refusal as it came, and this wording is not tried again for an hour.
 */
export async function trySmaller(first: Outcome, { form, sending, send, parts }: Retrying): Promise<Outcome> {
  const { profile, whyUntouched, modelKey, remembered } = sending.request
  const wording = wordingOf(first)
  const mayTry = !profile.observe && profile.overflow.attempts > 0 && profile.trigger !== 'off'
  if (wording === null || !mayTry || whyUntouched !== null) return first
  const tried = parts.models.suspected(modelKey).unknownWordings
  const before = tried.get(wording)
  if (before?.refusedAtMs != null && parts.nowMs() - before.refusedAtMs < UNTRIED_MS) return first
  const sentTokens = await countSent(form, sending, parts)
  const { measure } = sending
  const promptTokens = promptTokensOf(measure, form, sentTokens)
  const window = knownWindow(measure)
  const worthTokens = window === null ? GUESSED_TOKENS_MIN : window.tokens * WINDOW_SHARE_MIN
  if (measure === null || promptTokens < worthTokens) return first
  const how = { budgetTokens: Math.floor((sentTokens - 1) / 2), fills: true, refusedTokens: sentTokens }
  const smaller = await tightened(first.form, how, sending, parts)
  if (smaller === null) return first
  const half = clamped(smaller, first.form.clampedOutputTokens)
  // They were refused, or are what was: another refusal is answered by no larger request.
  sending.refused.add('original')
  const second = await sendAgain(first, () => send(half, sending))
  if (second === null) return first
  if (!isAnswered(second)) {
    discard(second.answer)
    // A server in trouble, or one that is asked too often, has said nothing of this wording.
    const reason = second.verdict === 'refused' ? second.classification?.class : null
    if (reason === 'other' || reason === 'overflow')
      noteOf(tried, wording, { refusedAtMs: parts.nowMs(), answered: null })
    return first
  }
  const answered = { conversation: remembered.conversation, promptTokens }
  if (before?.answered != null)
    for (const each of [before.answered, answered])
      parts.windows.recovered(modelKey, each.conversation, each.promptTokens)
  noteOf(tried, wording, { refusedAtMs: null, answered })
  recordForm(second.form, sending, parts)
  return { ...second, remedy: 'recovered' }
}

// --- internal ---

/** How long a wording is not tried again that was refused at half of the size, too, in milliseconds. */
const UNTRIED_MS = 3_600_000
/** A prompt of this share of a known window may be too long for another. */
const WINDOW_SHARE_MIN = 0.5
/** Where the window is a guess, the smallest prompt that may be too long, in the provider's tokens. */
const GUESSED_TOKENS_MIN = 4_096

/** What an unread refusal says; null for any other answer, and for one that could not be given to the client any more. */
function wordingOf(refused: Outcome): string | null {
  const { verdict, classification, answer } = refused
  if (verdict !== 'refused' || classification?.class !== 'other' || !answer.body.isEnded) return null
  const text = readableText(refused)
  return text === null ? null : unknownWording(text, answer.status)
}

/** A form of the request that was refused as too large, with our own count of its prompt. */
type RefusedForm = {
  readonly classification: Classification
  readonly form: Form
  readonly sentTokens: number
  /** The status that it was refused with. */
  readonly status: number
}

/** A smaller form of what was refused; null where nothing more can be taken away. */
function tightened(
  refused: Form,
  how: Pick<SmallerFormOptions, 'budgetTokens' | 'fills' | 'refusedTokens'> & Partial<SmallerFormOptions>,
  sending: Sending,
  parts: RequestParts,
): Eventual<Form | null> {
  const { request } = sending
  return parts.failures.around('recovery', null, async () => {
    const counted = await countedIn(sending, parts)
    const previous = refused.compacted?.compaction ?? request.remembered.compaction
    const strict = isStrict(request, parts.models)
    const usual = { keepRecent: request.profile.keep.recent_messages, smallest: false, previous }
    return tightenedForm({ ...request, strict }, counted, { ...usual, ...how }, parts)
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
function recordForm(
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
