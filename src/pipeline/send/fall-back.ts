import { withoutStarts } from '../../compaction/passes/passes.ts'
import { matchProfile } from '../../profiles/match.ts'
import type { Profile } from '../../profiles/schema.ts'
import { blanksBilling } from '../billing-line.ts'
import { originalForm, placedAnew, thoughtlessForm } from '../compact/forms.ts'
import { isStrict } from '../model-lessons.ts'
import { countedIn } from '../measure/measure-request.ts'
import type { RequestParts, SendingParts } from '../request-parts.ts'
import { destinationOf, isObservedSubscription } from '../read-request.ts'
import type { Form, Outcome, PreparedRequest, Sending } from '../request.ts'
import { readWhole } from '../reply/whole-answer.ts'
import { ERROR_BYTES_MAX, ERROR_HOLD_MS } from './judge.ts'
import { discard, isAnswered, isTooLarge, sendAgain } from './outcome.ts'
import { learnFromRefusal } from './recover-from-overflow.ts'
import { withDeployment } from './outgoing-body.ts'

/**
 * Sends a request that was refused as an overflow in every form, once, to the larger model that its profile names
 * (`overflow.fallback`). If nothing good comes of that, the refusal stands as it came.
 */
export async function fallBack(refused: Outcome, sending: Sending, parts: SendingParts): Promise<Outcome> {
  if (!isTooLarge(refused) || refused.classification.class !== 'overflow') return refused
  const elsewhere = atLargerModel(sending.request, parts)
  if (elsewhere === null) return refused
  // Whatever comes of it, the client may have to get this one.
  const isWhole = refused.answer.body.isEnded
  const first = isWhole ? refused : await readWhole(refused, ERROR_BYTES_MAX, ERROR_HOLD_MS)
  if (!first.answer.body.isEnded) return first
  const larger: Sending = {
    ...sending,
    request: elsewhere,
    measure: null,
    refused: new Set(),
    // So its answer is looked at before any of it goes on: it may still be a refusal.
    wasTooLong: true,
    isUsageSuspected: false,
  }
  const form = await parts.failures.around('recovery', null, () => formFor(larger, parts))
  if (form === null) return first
  const request = { ...elsewhere, form, measure: larger.measure }
  larger.request = request
  const sent = await sendAgain(first, () => parts.senders.fallback(form, larger))
  const fallback = { model: request.model, upstream: request.modelKey.upstream }
  sending.attempts = larger.attempts
  if (sent === null) return { ...first, fallback: { ...fallback, answered: null, refusedWith: null } }
  if (sent.verdict === 'good' && isAnswered(sent))
    return { ...sent, remedy: 'recovered', fallback: { ...fallback, answered: request, refusedWith: null } }
  discard(sent.answer)
  const { status } = sent.answer
  // So that the next one is made for the window that it has.
  if (isTooLarge(sent)) {
    const { classification } = sent
    learnFromRefusal(
      { classification, form: sent.form, sentTokens: sent.form.sentTokens, status },
      request,
      parts,
    )
  }
  return { ...first, fallback: { ...fallback, answered: null, refusedWith: status } }
}

// --- internal ---

/**
 * The request as one to the larger model: with its name in the place of the client's, and under its own window. What is on
 * record of the conversation is the other model's. Null if there is none, or if it must not be sent there.
 */
function atLargerModel(request: PreparedRequest, parts: RequestParts): PreparedRequest | null {
  const { profile, exchange, chat, deployment } = request
  const { fallback } = profile.overflow
  if (fallback === null || profile.observe) return null
  const own = request.modelKey.upstream
  const name = fallback.upstream ?? own
  const upstreamName = name === 'default' ? null : name
  const { model } = fallback
  if (model === request.model && name === own) return null
  const { upstreams } = parts
  if (isObservedSubscription(exchange, upstreamName, profile, upstreams)) return null
  const isDeployed = deployment !== null
  const target = isDeployed ? withDeployment(exchange.target, model) : exchange.target
  const to = {
    exchange: { ...exchange, target },
    profile: profileFor(request, model, parts),
    upstreamName,
    model,
    deployment: isDeployed ? model : null,
    isNamedInFull: true,
    chat,
  }
  return {
    ...request,
    ...destinationOf(to, upstreams),
    exchange: to.exchange,
    profile: to.profile,
    blanksBilling: blanksBilling(profile, upstreams.addressOf(upstreamName).isAnthropic),
    renamedTo: model,
    recall: null,
    remembered: { ...request.remembered, compaction: null, found: null, seenUntil: null, sharedUntil: null },
    whyUntouched: null,
    isForced: false,
    measure: null,
    form: originalForm(chat, request.form.sentTokens),
    failedOpen: null,
  }
}

/**
 * The request's own profile, for a model to which nothing is sent smaller than it has to be. The window is that of the profile
 * which the larger model has; if that is the same, its window is the other model's, and this one's has to be found out.
 */
function profileFor(
  { profile, exchange }: PreparedRequest,
  model: string,
  { profiles }: RequestParts,
): Profile {
  const match = matchProfile(profiles(), { model, headers: exchange.headers, requested: null })
  const isOthers = match.kind === 'found' && match.profile.name !== profile.name
  const { output_reserve } = profile.window
  const unknown = { tokens: 'auto', max: null, output_reserve, encoding: 'auto', ratio: null } as const
  return {
    ...profile,
    window: isOthers ? match.profile.window : unknown,
    trigger: 1,
    target: null,
    every: { turns: 0, tool_calls: 0 },
    limit: { turns: 0, messages: 0 },
    min_growth_tokens: 0,
    ...withoutStarts(profile),
    clear: { ...profile.clear, at: null },
    fold: { at: null },
  }
}

/**
 * The client's conversation as far as it fits, else what is compacted for this window: with recaps, and on no record. Thoughts
 * that are bound are another model's.
 */
async function formFor(sending: Sending, parts: RequestParts): Promise<Form> {
  const { request } = sending
  const counted = await countedIn(sending, parts)
  const of = { ...request, strict: isStrict(request, parts.models) }
  const { measure } = sending
  const form =
    measure !== null && measure.pressure <= 1
      ? originalForm(request.chat, measure.incomingTokens)
      : await placedAnew(of, counted, null, parts)
  const compaction = form.compacted?.compaction ?? null
  return thoughtlessForm(of, counted, compaction, parts.cache) ?? form
}
