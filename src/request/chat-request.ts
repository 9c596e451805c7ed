import type { Chat, ChatRequest } from './request.ts'
import { FoldgateError } from '../errors.ts'
import { matchProfile } from '../profiles/match.ts'
import type { Profile } from '../profiles/schema.ts'
import { MODEL_NAME_CHARS_MAX } from '../upstream/model-name.ts'
import { azureDeployment } from '../upstream/target.ts'
import { digest } from './read/body-source.ts'
import type { ClientRequest } from '../http/client-request.ts'
import { refuseOtherModels, type ClientRights } from '../http/confinement.ts'
import type { Scope } from '../http/scope.ts'
import { modelKeyOf } from '../models/model-key.ts'
import type { Wishes } from './request-options.ts'

export type DescribeOptions = {
  readonly profiles: () => ReadonlyMap<string, Profile>
}

/** Finds the profile, the model and the upstream of a request. Throws `unknown_profile`, or what the client's rights forbid. */
export function describeRequest(
  input: {
    exchange: ClientRequest
    chat: Chat
    wishes: Wishes
    scope: Scope
    rights: ClientRights | null
    turn: ChatRequest['turn']
  },
  options: DescribeOptions,
): ChatRequest {
  const { exchange, chat, wishes, scope, turn } = input
  const model = bounded(givenName(chat, exchange))
  const profileOf = (name: string): Profile => matchedProfile(name, exchange, wishes, options)
  const profile = profileOf(model)
  refuseOtherModels(
    input.rights,
    { completion: chat.completion, deployment: azureDeployment(exchange.path) },
    profileOf,
    wishes.profile !== null,
  )
  const upstreamName = exchange.upstreamName ?? profile.upstream
  return {
    exchange,
    chat,
    received: chat,
    wishes,
    profile,
    model,
    upstreamName,
    modelKey: modelKeyOf(upstreamName ?? 'default', scope.credential, model),
    place: { scope: scope.scope, profile: profile.name, model: digest(model).slice(0, MODEL_DIGEST_CHARS) },
    recall: null,
    turn,
  }
}

/** Whether the request's model has the name that the client wrote, not a digest of a name that is too long. */
export function isNamedInFull({ model, chat, exchange }: ChatRequest): boolean {
  return model === givenName(chat, exchange)
}

// --- internal ---

/** Enough to tell the models of one scope apart. */
const MODEL_DIGEST_CHARS = 12

function matchedProfile(
  model: string,
  { incoming }: ClientRequest,
  wishes: Wishes,
  options: DescribeOptions,
): Profile {
  const match = matchProfile(options.profiles(), {
    model,
    headers: incoming.headers,
    requested: wishes.profile,
  })
  if (match.kind === 'found') return match.profile
  throw new FoldgateError('unknown_profile', `x-foldgate-profile: ${match.message}`, {
    param: 'x-foldgate-profile',
  })
}

function givenName(chat: Chat, exchange: ClientRequest): string {
  return chat.completion.model ?? azureDeployment(exchange.path) ?? ''
}

function bounded(model: string): string {
  return model.length <= MODEL_NAME_CHARS_MAX ? model : `${model.slice(0, 64)} ${digest(model)}`
}
