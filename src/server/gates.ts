import { hash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { LiveKey } from '../config/api-keys.ts'
import type { Secret } from '../config/secret.ts'
import type { ClientKeySettings } from '../config/settings.ts'
import { FoldgateError } from '../errors.ts'
import { matchesGlob } from '../profiles/glob.ts'
import { isLoopbackName } from '../upstream/address.ts'
import { clientCredential } from '../upstream/credential.ts'
import type { Target } from '../upstream/target.ts'
import { answerHeaderNames } from '../telemetry/answer-headers.ts'
import { cutOffUnread } from './answer-error.ts'

/** A client key of the settings. What it is may change with any request. */
export type ClientKey = Omit<ClientKeySettings, 'key'> & { readonly key: Pick<LiveKey, 'now'> }

/**
 * Finds out whose key a request carries. Every key is compared in constant time, and
 * all of them each time. Throws `client_key_required`, and `override_not_allowed` if its client may not choose the upstream.
 */
export function clientKeyOf(
  incoming: IncomingMessage,
  { query, upstreamName }: Pick<Target, 'query' | 'upstreamName'>,
  clientKeys: readonly ClientKey[],
): ClientKey {
  const credential = clientCredential(incoming.rawHeaders, query)
  const presented = digestOf(credential?.value ?? '')
  let found: ClientKey | null = null
  for (const clientKey of clientKeys) {
    for (const key of clientKey.key.now()) {
      const same = timingSafeEqual(presented, digestOfSecret(key))
      if (same && credential !== null) found = clientKey
    }
  }
  if (found === null) throw clientKeyRequired
  if (upstreamName !== null && !found.upstreams.some((pattern) => matchesGlob(pattern, upstreamName)))
    throw new FoldgateError(
      'override_not_allowed',
      'This client key may not choose the upstream behind /u/ (client_keys[].upstreams in foldgate.yaml).',
    )
  return found
}

/** The names and pages that a listener on loopback lets in beside its own, and how it calls itself. */
export type GuardOptions = {
  /** Begins a sentence: "The admin listener", say. */
  readonly listener: string
  /** Further names of this machine (`hosts`). */
  readonly hosts: readonly string[]
  /** Pages that may use it (`cors.origins`), and what its refusal says of the others. */
  readonly origins: readonly string[]
  readonly pageAdvice: string
}

/** Refuses a page that had its name re-bound to this machine: it sends a foreign `Host`. Throws `host_not_allowed`. */
export function refuseForeignHost(
  incoming: IncomingMessage,
  { listener, hosts }: Pick<GuardOptions, 'listener' | 'hosts'>,
): void {
  const host = incoming.headers.host ?? ''
  const bare = host.replace(/:\d*$/, '')
  if (isLoopbackName(bare) || namesHost(hosts, host, bare)) return
  const name = JSON.stringify(bare.slice(0, NAME_CHARS_MAX))
  throw new FoldgateError(
    'host_not_allowed',
    `${listener} answers only under names of this machine, and was asked for as ${name}. If that is one of them, add it to hosts in foldgate.yaml.`,
    { param: 'host' },
  )
}

/** Refuses a page of another site in the user's browser, which sends its `Origin`. Throws `origin_not_allowed`. */
export function refuseForeignPages(
  incoming: IncomingMessage,
  { listener, origins, pageAdvice }: Omit<GuardOptions, 'hosts'>,
): void {
  const { origin, host = '', 'sec-fetch-site': site } = incoming.headers
  // Images and links of a page send no origin, but browsers say where they stand: a page at another port of this
  // machine is `same-site`, which is another site here. Programs say nothing; `none` is what a user types or opens
  // (https://www.w3.org/TR/fetch-metadata/).
  if (origin === undefined && (site === undefined || site === 'same-origin' || site === 'none')) return
  if (origin !== undefined && isAllowedOrigin(origin, origins)) return
  // A page that Foldgate itself would serve; any other port of this machine is another site.
  if (origin === `http://${host}` || origin === `https://${host}`) return
  const whose =
    origin === undefined ? '' : `, and this one is of ${JSON.stringify(origin.slice(0, NAME_CHARS_MAX))}`
  throw new FoldgateError(
    'origin_not_allowed',
    `${listener} refuses pages of other sites${whose}.${pageAdvice}`,
    {
      param: 'origin',
    },
  )
}

/** Answer headers that browsers may show to a page, besides the few that they always show. */
const exposedHeaders = [
  ...answerHeaderNames,
  'x-request-id',
  'retry-after',
  'retry-after-ms',
  'x-ratelimit-limit-requests',
  'x-ratelimit-limit-tokens',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-remaining-tokens',
  'x-ratelimit-reset-requests',
  'x-ratelimit-reset-tokens',
].join(', ')

/** How long a browser may keep a preflight's answer, in seconds; browsers cut it to two hours at most. */
const preflightSeconds = 7_200

/** Whether pages of an origin may use Foldgate (`cors.origins`; `*` means all). */
function isAllowedOrigin(origin: string, origins: readonly string[]): boolean {
  return origins.includes('*') || origins.includes(origin)
}

/**
 * The headers that let a page read an answer. Empty without `cors.origins`: then the upstream's own stand.
 */
export function corsHeaders(incoming: IncomingMessage, origins: readonly string[]): Record<string, string> {
  if (origins.length === 0) return {}
  const { origin } = incoming.headers
  if (origin === undefined || !isAllowedOrigin(origin, origins)) return {}
  return {
    'access-control-allow-origin': origin,
    'access-control-expose-headers': exposedHeaders,
    vary: 'origin',
  }
}

/** Answers a preflight; false when an OPTIONS request is none, or is the upstream's to answer. */
export function answerPreflight(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  allowed: Readonly<Record<string, string>>,
): boolean {
  const { headers } = incoming
  const method = headers['access-control-request-method']
  if (method === undefined || allowed['access-control-allow-origin'] === undefined) return false
  const privateNetwork = headers['access-control-request-private-network'] === 'true'
  outgoing.writeHead(204, {
    ...allowed,
    vary: 'origin, access-control-request-method, access-control-request-headers',
    'access-control-allow-methods': method,
    'access-control-allow-headers': headers['access-control-request-headers'] ?? '*',
    'access-control-max-age': String(preflightSeconds),
    ...(privateNetwork ? { 'access-control-allow-private-network': 'true' } : {}),
  })
  outgoing.end()
  cutOffUnread(outgoing)
  return true
}

// --- internal ---

/** Made once: whoever has no key may ask as often as he likes, and its stack is of no interest. */
const clientKeyRequired = new FoldgateError(
  'client_key_required',
  'This Foldgate takes its own client keys only (client_keys): send one as the API key.',
)

function digestOf(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}

/** The same of what Foldgate holds, remembered: a refusal would cost a hash for every client otherwise. */
function digestOfSecret(secret: Secret): Buffer {
  const known = digests.get(secret)
  if (known !== undefined) return known
  const made = digestOf(secret.reveal())
  digests.set(secret, made)
  return made
}

const digests = new WeakMap<Secret, Buffer>()

/** The longest name of a host, in characters; more of one is not repeated. */
const NAME_CHARS_MAX = 253

function namesHost(hosts: readonly string[], host: string, bare: string): boolean {
  const asked = new Set([plainName(host), plainName(bare)])
  return hosts.some((name) => asked.has(plainName(name)))
}

/** As two spellings of one name are compared: an IPv6 address has brackets in `Host`, a full name may end in a dot. */
function plainName(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
}
