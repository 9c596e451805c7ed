import type { Source } from '../json/source.ts'
import { FoldgateError } from '../errors.ts'
import { matchesGlob, mostSpecificGlob } from '../profiles/glob.ts'
import type { Profile } from '../profiles/schema.ts'
import { barePath, MODEL_NAME_CHARS_MAX, type Target } from '../upstream/target.ts'
import type { ClientRequest, ClientRights } from './client-request.ts'
import type { BodyFacts } from '../formats/contract.ts'
import type { Chat, ReadRequest } from './request.ts'
import { dialects } from '../formats/formats.ts'
import { isJsonObject, parseJson } from '../json/json-value.ts'

/**
 * The limits of a client key. One that has not all profiles reaches models only by a conversation that Foldgate has read with
 * certainty and found under a profile of its own: everything but that and lists of models is refused, since it would run any
 * model with the key that Foldgate holds. One that may not bypass Foldgate has its conversations read:
 * whatever would carry one past it unread is refused.
 */

/** Throws `endpoint_not_allowed` for a request that would lead around what its key may do. */
export function refuseWayAround(
  rights: ClientRights,
  { method, target, route, rawHeaders }: Pick<ClientRequest, 'method' | 'target' | 'route' | 'rawHeaders'>,
): void {
  const setting = confiningSetting(rights)
  if (setting === null) return
  const isRead = route.kind === 'conversation'
  if (setting === 'profiles') {
    if (isRead) requirePlainConversation(target, rawHeaders)
    else if (!isModelList(method, target.path))
      throw endpointNotAllowed(
        'may ask for conversations and lists of models only, by their usual paths',
        'profiles',
      )
    requirePlainHeaders(rawHeaders, otherModelHeaders, setting)
  }
  requirePlainHeaders(rawHeaders, otherRequestHeaders, setting)
  if (setting === 'overrides' && !isRead && mayCarryConversation(method, target.path))
    throw endpointNotAllowed(
      'may not send a conversation by a path on which Foldgate does not read it',
      setting,
    )
}

/** Throws `unread_not_allowed` where what was not read may not go on. `why` ends a sentence: "duplicate-key", say. */
export function refuseUnread(rights: ClientRights, why: string): void {
  const setting = confiningSetting(rights)
  if (setting === null) return
  throw new FoldgateError(
    'unread_not_allowed',
    `This client key is confined by client_keys[].${setting} in foldgate.yaml, and of its requests only what was read may go on. This one was not: ${why}.`,
    { param: `client_keys[].${setting}` },
  )
}

/** The names under which a request may reach a model, none of them longer than a model's name. */
type NamedModels = Pick<Chat, 'body' | 'source' | 'dialect'> & Pick<ReadRequest, 'deployment'>

/**
 * Throws `model_not_allowed` where a body may name another model than the one that its profile was found by, and
 * `override_not_allowed` where that profile is none of the key's. `profileOf` is what a model is matched to, and `asked`
 * whether it was asked for by name: then its patterns still say for which models it is.
 */
export function refuseOtherModels(
  rights: ClientRights,
  { body, source, dialect, deployment }: NamedModels,
  profileOf: (model: string) => Profile,
  isAskedFor: boolean,
): void {
  if (confiningSetting(rights) !== 'profiles') return
  const field = body.fieldNames.find((name) => !dialect.bodies.knownFields.has(name))
  if (field !== undefined)
    throw modelNotAllowed(
      `the field ${JSON.stringify(field.slice(0, 64))} is not known here and may choose another one`,
    )
  if (body.fieldNames.includes('model') && body.model === null)
    throw modelNotAllowed('its "model" is no text')
  if (toolsNameModel(source, body)) throw modelNotAllowed('one of its tools names a model of its own')
  const named = [body.model, deployment].filter((name) => name !== null)
  for (const name of named.length === 0 ? [''] : named) {
    if (name.length > MODEL_NAME_CHARS_MAX || severalNames.test(name))
      throw modelNotAllowed('its "model" is more than one name')
    const profile = profileOf(name)
    if (!rights.profiles.some((pattern) => matchesGlob(pattern, profile.name)))
      throw new FoldgateError(
        'override_not_allowed',
        `This client key may not use the profile "${profile.name}" (client_keys[].profiles in foldgate.yaml).`,
      )
    // Any profile could be asked for with any model; those that it is for are what the operator meant.
    if (isAskedFor && profile.models.length > 0 && mostSpecificGlob(profile.models, name) === null)
      throw modelNotAllowed(`the profile "${profile.name}" is not for it (models)`)
  }
}

/**
 * Whether a request may carry a conversation past Foldgate: all may but those that read or delete, and those to paths that
 * are known to carry none, in their usual spelling. Messages of the Assistants API are stored, not generated.
 *
 * @internal exported for tests
 */
export function mayCarryConversation(method: string, path: string): boolean {
  return !readingMethods.has(method) && !carriesNoConversation.test(barePath(path))
}

// --- internal ---

const readingMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS'])

/** What may stand before the name of an endpoint: versions, and an Azure deployment. */
const usualPrefix = String.raw`(?:/(?:v\d+(?:alpha|beta)?|api|openai|inference)|/openai/deployments/[\w.~-]+)*`

/** Endpoints that take a text, a file or a model's name alone. */
const plainEndpoints = [
  'embeddings?',
  'api/embed',
  'api/show',
  'moderations',
  'rerank',
  'reranking',
  'score',
  'classify',
  'tokenize',
  'detokenize',
  'messages/count_tokens',
  'threads/[^/]+/messages',
].join('|')

/** Endpoints that have others below them, which take none either. */
const plainFamilies = 'files|uploads|images|audio|vector_stores'

const carriesNoConversation = new RegExp(
  `^${usualPrefix}/(?:${plainEndpoints}|(?:${plainFamilies})(?:/[\\w.~-]+)*)$|^[\\w.~:@/-]+:(?:embedContent|batchEmbedContents|countTokens)$`,
)

type ConfiningSetting = 'profiles' | 'overrides'

/** What confines a key: that it has not all profiles, or else that it may not bypass Foldgate; null if neither does. */
function confiningSetting({ profiles, overrides }: ClientRights): ConfiningSetting | null {
  if (!profiles.some((pattern) => /^\*+$/.test(pattern))) return 'profiles'
  return overrides.includes('bypass') ? null : 'overrides'
}

/**
 * What stands before a dialect's own path names an API or an Azure deployment. Another prefix may name a model
 * or a provider: `/models/ORG/NAME/v1`, `/engines/NAME`.
 */
const conversationPath = new RegExp(
  String.raw`^(?:(?:/(?:v\d+(?:alpha|beta)?|api|openai|inference|compatible-mode|paas|apps|anthropic))*|/openai/deployments/[\w.~-]+)/(?:${dialects.flatMap(({ paths }) => paths).join('|')})$`,
)

/** `?model=` goes before the body's model in LiteLLM. Anthropic's clients write `?beta=true`. */
const conversationQueryNames: ReadonlySet<string> = new Set(['api-version', 'beta', 'key'])

function requirePlainConversation({ path, query }: Target, rawHeaders: readonly string[]): void {
  if (!conversationPath.test(path))
    throw endpointNotAllowed('may ask for conversations by their usual paths only', 'profiles')
  // Old servers begin another pair at a semicolon, and a second question mark is some proxies' first.
  const pairs = query.split(/[&;?]/)
  if (!pairs.every((pair) => pair === '' || conversationQueryNames.has(pair.split('=', 1)[0] ?? '')))
    throw endpointNotAllowed('may ask for conversations without a query of its own', 'profiles')
  const types = valuesOf(rawHeaders, 'content-type')
  // A form or another charset is another body to whoever goes by it.
  if (types.length > 1 || !types.every((type) => jsonType.test(type)))
    throw endpointNotAllowed('may send JSON only (content-type: application/json)', 'profiles')
  const codings = valuesOf(rawHeaders, 'content-encoding')
  // Of these nobody makes bytes that are JSON before they are decoded, too, for a server that does not decode.
  if (codings.length > 1 || !codings.every((coding) => /^\s*(?:identity|gzip|zstd)?\s*$/i.test(coding)))
    throw endpointNotAllowed('may encode its bodies by gzip or zstd only (content-encoding)', 'profiles')
}

const jsonType = /^\s*application\/json\s*(?:;\s*charset\s*=\s*"?utf-?8"?\s*;?\s*)?$/i

/** `GET …/models` and `…/models/ID`, whose ID may hold a slash; and Ollama's. */
function isModelList(method: string, path: string): boolean {
  return (method === 'GET' || method === 'HEAD') && modelsPath.test(path)
}

const modelsPath = /^(?:\/(?:v\d+(?:alpha|beta)?|api|openai))*\/models(?:\/[\w.~:@%-]+){0,2}$|^\/api\/tags$/

/** Headers by which servers take another method or path than the request line says. */
const otherRequestHeaders =
  /^(?:x-http-method(?:-override)?|x-method-override|x-original-ur[il]|x-forwarded-uri|x-rewrite-url)$/

/** Headers by which servers and gateways take another model than the body says. */
const otherModelHeaders =
  /^(?:azureml-model-deployment|x-ms-model-mesh-model-name|mm-v?model-id|x-(?:gateway-model-name|(?:selected-)?model)|x-portkey-.*|helicone-.*|cf-aig-.*|x-litellm-.*)$/

function requirePlainHeaders(
  rawHeaders: readonly string[],
  refused: RegExp,
  setting: ConfiningSetting,
): void {
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? '').toLowerCase()
    // To servers behind CGI and its heirs both are one.
    if (refused.test(name.replaceAll('_', '-')))
      throw endpointNotAllowed(`may not send the header ${name}`, setting)
  }
}

/** Whether one of the tools in a body is run by another model, which it names: an advisor, one that draws. Looked up when asked. */
function toolsNameModel(source: Source, { tools }: Pick<BodyFacts, 'tools'>): boolean {
  const list: unknown = tools === null ? null : parseJson(source, tools)
  return Array.isArray(list) && list.some((tool) => isJsonObject(tool) && tool['model'] !== undefined)
}

/** LiteLLM asks each model of `a,b`. */
const severalNames = /[,\s]/

function valuesOf(rawHeaders: readonly string[], wanted: string): readonly string[] {
  return rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === wanted)
}

function endpointNotAllowed(what: string, setting: ConfiningSetting): FoldgateError {
  return new FoldgateError(
    'endpoint_not_allowed',
    `This client key ${what}: it is confined by client_keys[].${setting} in foldgate.yaml.`,
    { param: `client_keys[].${setting}` },
  )
}

function modelNotAllowed(why: string): FoldgateError {
  return new FoldgateError(
    'model_not_allowed',
    `This client key may use the models of its profiles only (client_keys[].profiles in foldgate.yaml): ${why}.`,
    { param: 'model' },
  )
}
