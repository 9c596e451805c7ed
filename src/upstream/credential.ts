import { asksForBeta, isAnthropic, isSubscriptionToken } from './address.ts'
import { createHmac, hash } from 'node:crypto'

/** Headers that hold a credential, those first that count first where there are several. */
const places = ['authorization', 'api-key', 'x-api-key', 'x-goog-api-key'] as const

/** A client's credential as it came: which header (or the query's `key`) held it, and its bare value. */
export type ClientCredential = {
  readonly place: (typeof places)[number] | 'query'
  readonly value: string
}

/** Headers in which clients send credentials. They are held back from every upstream that may not see them. */
export const credentialHeaders: ReadonlySet<string> = new Set([...places, 'cookie'])

/** Whether a header that an operator configured is a key by itself: who reaches Foldgate could use it. */
export function isCredentialHeader(name: string): boolean {
  const lower = name.toLowerCase()
  return credentialHeaders.has(lower) || configuredOnly.has(lower)
}

/** The credential of a request, from its raw headers and its query; null where it has none. */
export function clientCredential(rawHeaders: readonly string[], query: string): ClientCredential | null {
  return clientCredentials(rawHeaders, query)[0] ?? null
}

/**
 * Every credential of a request: which of several an upstream goes by, only the upstream knows. Cookies are
 * not among them, since they may change with each answer.
 */
export function clientCredentials(rawHeaders: readonly string[], query: string): readonly ClientCredential[] {
  const found: ClientCredential[] = []
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const place = placeOf.get(rawHeaders[at]?.toLowerCase() ?? '')
    const value = rawHeaders[at + 1] ?? ''
    if (place === undefined) continue
    const bare = place === 'authorization' ? value.replace(/^Bearer\s+/i, '') : value
    if (bare !== '') found.push({ place, value: bare })
  }
  if (found.length > 1) found.sort((one, other) => inOrder.indexOf(one.place) - inOrder.indexOf(other.place))
  if (query !== '') {
    for (const value of new URLSearchParams(query).getAll('key'))
      if (value !== '') found.push({ place: 'query', value })
  }
  return found
}

/** Of a request's headers those that carry its credentials, as they came: what a request of Foldgate's own takes along. */
export function credentialHeadersOf(rawHeaders: readonly string[]): readonly string[] {
  const taken: string[] = []
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    if (takenHeaders.has(name.toLowerCase())) taken.push(name, rawHeaders[at + 1] ?? '')
  }
  return taken
}

/** The first value of a header in a raw header list, or null. `name` is in lower case. */
export function headerValue(rawHeaders: readonly string[], name: string): string | null {
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.toLowerCase() === name) return rawHeaders[at + 1] ?? ''
  }
  return null
}

/**
 * The header that carries a key which Foldgate holds: the one that the client's own credential came in,
 * `api-key` for Azure's hosts, `x-api-key` for Anthropic's API, which takes no key as a bearer token; else that. `path`: at the
 * upstream, null for any.
 */
export function heldKeyHeader(
  key: string,
  clientPlace: ClientCredential['place'] | null,
  upstreamOrigin: string,
  path: string | null,
): readonly [string, string] {
  if (clientPlace === 'api-key' || clientPlace === 'x-api-key' || clientPlace === 'x-goog-api-key') {
    return [clientPlace, key]
  }
  if (/\.azure\.com(?::\d+)?$/.test(upstreamOrigin)) return ['api-key', key]
  if (isAnthropic(new URL(upstreamOrigin).hostname) && !isForBearer(key, path)) return ['x-api-key', key]
  return ['authorization', `Bearer ${key}`]
}

/**
 * Whether a request to Anthropic is paid by a subscription: it carries a token of OAuth and no key of the API
 * (Claude Code, signed in with a Pro or Max plan).
 */
export function isOfSubscription(rawHeaders: readonly string[]): boolean {
  if ((headerValue(rawHeaders, 'x-api-key') ?? '') !== '') return false
  const token = /^Bearer\s+(.+)$/i.exec(headerValue(rawHeaders, 'authorization') ?? '')?.[1]
  if (token === undefined) return false
  return isSubscriptionToken(token) || asksForBeta(rawHeaders, /(?:^|,)\s*oauth-\d{4}-/)
}

/** The flag of the beta that lets such a token in. */
export const subscriptionBeta = 'oauth-2025-04-20'

/**
 * Tells the key that Foldgate holds for an upstream from the one before it, without showing either; empty where it holds
 * none. What an upstream said of one key is not true of the next: that it was accepted, denied or asked to wait.
 */
export type HeldKeyMark = (upstream: string) => string

export function createHeldKeyMarks(options: {
  readonly secret: Buffer
  /** The key as it is now; null for none. */
  readonly keyOf: (upstream: string) => string | null
}): HeldKeyMark {
  const digestOf = createDigests(options.secret)
  return function markOf(upstream) {
    const key = options.keyOf(upstream)
    return key === null ? '' : digestOf('held key', key)
  }
}

/**
 * Digests that tell secrets apart without showing them. `secret` belongs to the installation, so that they say nothing elsewhere.
 * The latest are remembered: a request costs no HMAC.
 */
export function createDigests(secret: Buffer): (kind: string, value: string) => string {
  const digests = new Map<string, string>()
  return function digestOf(kind, value) {
    const text = `${kind}\n${value}`
    // Credentials are not kept, not even as keys of a cache.
    const name = hash('sha256', text, 'base64url')
    const known = digests.get(name)
    if (known !== undefined) return known
    const made = createHmac('sha256', secret).update(text).digest('base64url').slice(0, DIGEST_CHARS)
    if (digests.size === DIGESTS_MAX) digests.clear()
    digests.set(name, made)
    return made
  }
}

/** Where no key is held, or none that could change. */
export const noMarks: HeldKeyMark = () => ''

// --- internal ---

/** A subscription's token, and the API that Anthropic has for clients of OpenAI's. */
function isForBearer(key: string, path: string | null): boolean {
  return isSubscriptionToken(key) || path?.endsWith('/chat/completions') === true
}

const inOrder: readonly ClientCredential['place'][] = places

const placeOf: ReadonlyMap<string, ClientCredential['place']> = new Map(places.map((place) => [place, place]))

/** No client sends these to a provider. */
const configuredOnly: ReadonlySet<string> = new Set(['proxy-authorization', 'ocp-apim-subscription-key'])

/** `connection` is not passed on either, but names headers that are not to be. */
const takenHeaders: ReadonlySet<string> = new Set([...places, 'connection'])

const DIGESTS_MAX = 4096

/** 132 bits: no two credentials meet. */
const DIGEST_CHARS = 22
