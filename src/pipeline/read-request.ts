import { FoldgateError } from '../errors.ts'
import { refuseOtherModels, refuseUnread } from './confinement.ts'
import { modelKeyOf, nameLoaded } from '../models/model-record.ts'
import { nameWithBeta } from '../models/table/window-table.ts'
import { matchProfile } from '../profiles/match.ts'
import type { Profile } from '../profiles/schema.ts'
import { azureDeployment, MODEL_NAME_CHARS_MAX } from '../upstream/target.ts'
import { isOfSubscription } from '../upstream/credential.ts'
import { blanksBilling } from './billing-line.ts'
import type { RequestParts } from './request-parts.ts'
import { digest, readBytes, withFreeThoughts } from './read/read-chat.ts'
import { anyHasBoundThoughts } from '../compaction/history/history.ts'
import { bindsThoughts } from './model-lessons.ts'
import type { ClientRequest } from './client-request.ts'
import type { ArrivedRequest, ReadRequest, UnreadReason } from './request.ts'

/**
 * The stage that reads: finds the messages in the body, and the profile, the model and the upstream of the request. Throws
 * `unknown_profile`, or what the client's rights forbid. Of a body that cannot be read with certainty it gives the reason: such
 * a body goes on as it came.
 */
export async function readRequest(
  arrived: ArrivedRequest,
  { failures, reading, profiles, upstreams, models }: RequestParts,
): Promise<ReadRequest | UnreadReason> {
  const { exchange, dialect, options, body, turn } = arrived
  const { rights } = exchange
  const { scope } = exchange.scope
  const { decoded } = body
  const chat =
    decoded === null
      ? 'encoding'
      : await failures.around('reading', 'failed', readBytes, dialect, decoded, scope, reading, null, turn)
  if (typeof chat === 'string') {
    if (rights !== null) refuseUnread(rights, chat)
    return chat
  }
  body.charge(chat.messages.length * MESSAGE_BYTES)

  const profileOf = (model: string): Profile => {
    const asked = { model, headers: exchange.headers, requested: options.profile }
    const match = matchProfile(profiles(), asked)
    if (match.kind === 'found') return match.profile
    const param = 'x-foldgate-profile'
    throw new FoldgateError('unknown_profile', `${param}: ${match.message}`, { param })
  }
  const deployment = azureDeployment(exchange.target.path)
  const given = chat.body.model ?? deployment ?? ''
  const isNamedInFull = given.length <= MODEL_NAME_CHARS_MAX
  const model = isNamedInFull ? given : `${given.slice(0, 64)} ${digest(given)}`
  const profile = profileOf(model)
  if (rights !== null)
    refuseOtherModels(rights, { ...chat, dialect, deployment }, profileOf, options.profile !== null)
  const upstreamName = exchange.upstreamName ?? profile.upstream
  const to = destinationOf(
    { exchange, profile, upstreamName, model, deployment, isNamedInFull, chat },
    upstreams,
  )
  const { isAnthropic } = upstreams.addressOf(upstreamName)
  let received = chat
  if (anyHasBoundThoughts(chat.messages)) {
    await models.load(to.modelKey)
    const { modelKey } = to
    if (!bindsThoughts({ dialect, modelKey }, isAnthropic, models)) received = withFreeThoughts(chat)
  }
  const isSubscription =
    !profile.observe && isObservedSubscription(exchange, upstreamName, profile, upstreams)
  const treated = isSubscription ? { ...profile, observe: true } : profile
  return {
    ...arrived,
    ...to,
    chat: received,
    received,
    profile: treated,
    isSubscription,
    blanksBilling: blanksBilling(treated, isAnthropic),
    renamedTo: null,
    recall: null,
  }
}

/** Where a request goes under the name of a model, and what is known there by that name. */
export function destinationOf(
  { exchange, profile, upstreamName, model, deployment, isNamedInFull, chat }: Destination,
  upstreams: RequestParts['upstreams'],
): Pick<ReadRequest, 'model' | 'deployment' | 'upstreamName' | 'modelKey' | 'question' | 'place'> {
  const { scope, credential } = exchange.scope
  const knownAs = nameWithBeta(model, exchange.rawHeaders)
  const { display } = upstreams.addressOf(upstreamName)
  const loadedAs = nameLoaded(knownAs, chat.body.windowTokens)
  const modelKey = modelKeyOf(upstreamName ?? 'default', credential, loadedAs, display)
  return {
    model,
    deployment,
    upstreamName,
    modelKey,
    question: {
      upstream: upstreamName,
      credential: modelKey.credential,
      model: isNamedInFull ? model : null,
      target: exchange.target,
      rawHeaders: exchange.rawHeaders,
      withholdCredential: exchange.clientKeyName !== null,
    },
    place: { scope, profile: profile.name, model: digest(knownAs).slice(0, MODEL_DIGEST_CHARS) },
  }
}

/**
 * Whether it is only observed since a subscription pays for it: what Anthropic derives the plan from may be among what a
 * compaction changes.
 */
export function isObservedSubscription(
  exchange: ClientRequest,
  upstream: string | null,
  { messages }: Profile,
  upstreams: RequestParts['upstreams'],
): boolean {
  if (messages.subscriptions !== 'observe' || !upstreams.addressOf(upstream).isAnthropic) return false
  return upstreams.seesCredentialOf({ ...exchange, upstream }) && isOfSubscription(exchange.rawHeaders)
}

// --- internal ---

type Destination = Pick<
  ReadRequest,
  'exchange' | 'profile' | 'upstreamName' | 'model' | 'deployment' | 'chat'
> & {
  /** Whether that is the model's whole name: by a shortened one no server is asked. */
  readonly isNamedInFull: boolean
}

/** What is made of a message beside its bytes: its place, facts, keys, token counts and units, and what is left of making them. */
const MESSAGE_BYTES = 2_000

/** Enough to tell the models of one scope apart. */
const MODEL_DIGEST_CHARS = 12
