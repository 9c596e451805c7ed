import type { Chat, ReadRequest } from './request.ts'
import { FoldgateError } from '../errors.ts'
import { matchProfile } from '../profiles/match.ts'
import type { Profile } from '../profiles/schema.ts'
import { MODEL_NAME_CHARS_MAX } from '../upstream/model-name.ts'
import { azureDeployment } from '../upstream/target.ts'
import { digest } from './read/body-source.ts'
import type { ClientRequest } from '../http/client-request.ts'
import { refuseOtherModels, type ClientRights } from '../http/confinement.ts'
import { modelKeyOf } from '../models/model-key.ts'
import type { RequestOptions } from './request-options.ts'

export type DescribeOptions = {
  readonly profiles: () => ReadonlyMap<string, Profile>
}

/** A body that was read, and who sent it. */
export type Described = Pick<ReadRequest, 'exchange' | 'chat' | 'options' | 'turn' | 'arrival'> & {
  readonly rights: ClientRights | null
}

/** Finds the profile, the model and the upstream of a request. Throws `unknown_profile`, or what the client's rights forbid. */
export function describeRequest(
  { exchange, chat, options, turn, arrival, rights }: Described,
  { profiles }: DescribeOptions,
): ReadRequest {
  const deployment = azureDeployment(exchange.path)
  const model = bounded(givenName(chat, exchange))
  const profileOf = (name: string): Profile => matchedProfile(name, exchange, options, profiles())
  const profile = profileOf(model)
  const isProfileChosen = options.profile !== null
  refuseOtherModels(rights, { completion: chat.completion, deployment }, profileOf, isProfileChosen)
  const upstreamName = exchange.upstreamName ?? profile.upstream
  const { scope, credential } = exchange.scope
  return {
    exchange,
    arrival,
    chat,
    received: chat,
    options,
    profile,
    model,
    upstreamName,
    modelKey: modelKeyOf(upstreamName ?? 'default', credential, model),
    place: { scope, profile: profile.name, model: digest(model).slice(0, MODEL_DIGEST_CHARS) },
    recall: null,
    turn,
  }
}

/** Whether the request's model has the name that the client wrote, not a digest of a name that is too long. */
export function isNamedInFull({ model, chat, exchange }: ReadRequest): boolean {
  return model === givenName(chat, exchange)
}

// --- internal ---

/** Enough to tell the models of one scope apart. */
const MODEL_DIGEST_CHARS = 12

function matchedProfile(
  model: string,
  { incoming }: ClientRequest,
  { profile: requested }: RequestOptions,
  profiles: ReadonlyMap<string, Profile>,
): Profile {
  const match = matchProfile(profiles, { model, headers: incoming.headers, requested })
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
