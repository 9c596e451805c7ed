import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Settings } from '../config/settings.ts'
import { isLoopback } from '../config/web-address.ts'
import type { ClientAnswer, ClientRequest, Route } from '../pipeline/client-request.ts'
import { answerable, ClientGoneError, FoldgateError, httpStatusOf } from '../errors.ts'
import { answerError, cutOffUnread } from './answer-error.ts'
import { deliver } from './deliver.ts'
import type { ClientPresence, Exchange } from './exchange.ts'
import {
  answerPreflight,
  type ClientKey,
  clientKeyOf,
  corsHeaders,
  refuseForeignHost,
  refuseForeignPages,
} from './gates.ts'
import { type RequestListener, serverAround } from './node-server.ts'
import { createFairShare, type Holder, type Taking } from '../scheduling/fair-share.ts'
import { barePath, parseTarget } from '../upstream/target.ts'
import type { Upstreams } from '../upstream/upstreams.ts'
import type { Lifecycle } from './drain.ts'
import { identityHeaders, ownSign, proofOf } from './own-sign.ts'
import { clientBody, type ReceiveBodyOptions } from './receive-body.ts'
import { createScopes } from './scope.ts'
import { dialects } from '../formats/formats.ts'

export type ServerOptions = {
  readonly settings: Pick<Settings, 'host' | 'hosts' | 'cors' | 'scope'> & {
    readonly limits: Pick<Settings['limits'], 'concurrent' | 'headers_s'>
    readonly client_keys: readonly ClientKey[]
  }
  /** The installation's secret, under which scopes are told apart. */
  readonly secret: Buffer
  readonly bodyLimits: ReceiveBodyOptions
  readonly upstreams: Pick<Upstreams, 'has'>
  readonly lifecycle: Lifecycle
  /** The secret by which this process proves that it is the one that has written it down. */
  readonly identity: string
  /** Finds the answer to a request. What it throws is answered here. */
  readonly handle: (request: ClientRequest) => Promise<ClientAnswer>
  /** Called for every request that never got to a handler, and why. */
  readonly onTurnedAway: (error: FoldgateError, incoming: IncomingMessage) => void
  /** Called for every error that is answered after the gates: what a handler threw, and what gave way. */
  readonly onFailure: (error: FoldgateError, incoming: IncomingMessage) => void
}

/**
 * The listener that clients talk to: two probes of its own, and behind the gates what `handle` answers. It does not listen
 * yet (`listeners.ts`).
 */
export function createServer(options: ServerOptions): Server {
  return serverAround(listenerOf(options), {
    headersMs: options.settings.limits.headers_s * 1000,
    headerBytesMax,
  })
}

/** @internal exported for tests. The route of a request, by its path behind `/u/NAME`, which chooses an upstream and nothing else. */
export function routeOf(method: string, path: string): Route {
  if (method !== 'POST') return relayed
  const bare = barePath(path)
  for (const [end, route] of routes) {
    if (!bare.endsWith(end)) continue
    // Messages of the Assistants API are stored, not generated.
    return /\/threads\/[^/]+\/messages$/.test(bare) ? relayed : route
  }
  return relayed
}

// --- internal ---

/** Largest request headers, in bytes. */
const headerBytesMax = 64 * 1024

/** Takes each request through the gates to its handler, and the answer to the client. */
function listenerOf(options: ServerOptions): RequestListener {
  const gates = gatesOf(options)

  return async function answer(_, outgoing, fault, client) {
    let isDispatched = false
    try {
      if (fault !== null) throw fault
      const exchange = passGates(options, gates, client, outgoing)
      if (exchange === null) return
      isDispatched = true
      const settled = await options.handle(exchange)
      const delivery = await deliver(exchange, settled, options.bodyLimits.arrival.silenceMs)
      settled.ended(delivery)
      if (delivery.error !== null) options.onFailure(delivery.error, outgoing.req)
    } catch (error) {
      refuse(outgoing, error, isDispatched, options)
    }
  }
}

function refuse(
  outgoing: ServerResponse,
  error: unknown,
  isDispatched: boolean,
  { settings, onFailure, onTurnedAway }: ServerOptions,
): void {
  if (error instanceof ClientGoneError) return
  const failure = answerable(error)
  if (isDispatched) onFailure(failure, outgoing.req)
  else onTurnedAway(failure, outgoing.req)
  answerError(outgoing, failure, corsHeaders(outgoing.req, settings.cors.origins))
}

/**
 * The gates: what may pass as an exchange; null where it was answered here. Throws where it is refused. Places come last:
 * what is refused takes none from those that have a right to one.
 */
function passGates(
  { settings, bodyLimits, upstreams, lifecycle, identity, onFailure }: ServerOptions,
  { places, guard, scopeOf }: ReturnType<typeof gatesOf>,
  client: ClientPresence,
  outgoing: ServerResponse,
): Exchange | null {
  const { limits, cors, client_keys: clientKeys } = settings
  const incoming = outgoing.req
  const target = parseTarget(incoming.url ?? '')
  const method = incoming.method ?? 'GET'
  // What is no target is refused above, whatever it begins with: a probe's would be another one to others on the way.
  const isProbe = target.upstreamName === null && probes.has(target.path)
  if (isProbe && (method === 'GET' || method === 'HEAD')) {
    answerProbe(incoming, outgoing, target.path, lifecycle.phase, identity)
    return null
  }
  // Other upgrades than to a WebSocket are offers that a server may ignore (RFC 9110 section 7.8): Java's client offers
  // `h2c` with its every first request.
  if (/\bwebsocket\b/i.test(incoming.headers.upgrade ?? '')) throw upgradeNotSupported
  if (lifecycle.phase === 'closing') throw draining
  // A returning client may reach another replica.
  if (lifecycle.phase === 'leaving') outgoing.shouldKeepAlive = false
  lifecycle.begin()
  client.whenOver(lifecycle.end)
  if (guard !== null) {
    refuseForeignHost(incoming, guard)
    refuseForeignPages(incoming, guard)
  }
  const answerHeaders = corsHeaders(incoming, cors.origins)
  if (method === 'OPTIONS' && answerPreflight(incoming, outgoing, answerHeaders)) return null
  const clientKey = clientKeys.length === 0 ? null : clientKeyOf(incoming, target, clientKeys)
  if (target.upstreamName !== null && !upstreams.has(target.upstreamName)) throw unknownUpstream
  const clientKeyName = clientKey?.name ?? null
  const scope = scopeOf({ incoming, target, clientKeyName })
  const end = (error: FoldgateError): void => {
    onFailure(error, incoming)
    if (outgoing.headersSent) outgoing.destroy()
    else answerError(outgoing, error, answerHeaders)
    client.leave()
  }
  const holder: Holder = {
    name: scope.holder,
    isAnswered: () => outgoing.headersSent,
    giveWay: () => end(overloaded('half', limits.concurrent)),
  }
  const place = places.open(holder)
  const taking = place.take(1)
  if (taking !== 'taken') throw overloaded(taking, limits.concurrent)
  client.whenOver(place.release)
  return {
    outgoing,
    method,
    target,
    rawHeaders: incoming.rawHeaders,
    headers: incoming.headers,
    withholdCredential: clientKey !== null,
    route: routeOf(method, target.path),
    upstreamName: target.upstreamName,
    clientKeyName,
    rights: clientKey,
    scope,
    holder,
    signal: client,
    body: clientBody({ incoming, outgoing, holder }, bodyLimits, end),
    answerHeaders,
  }
}

/** What the gates share out and let in, made of their options once. */
function gatesOf({ settings, secret }: ServerOptions) {
  const { host, hosts, cors, limits, scope } = settings
  const listener = 'Foldgate listens on loopback. It'
  const pageAdvice = ' If it may use Foldgate, add its origin to cors.origins in foldgate.yaml.'
  return {
    places: createFairShare({ max: limits.concurrent }),
    scopeOf: createScopes({ secret, header: scope.header }),
    /** Pages are refused on loopback, where they are of other sites or had their name re-bound to this machine. */
    guard: isLoopback(host) ? { listener, hosts, origins: cors.origins, pageAdvice } : null,
  }
}

/** Whether the process lives, and whether it takes requests. */
const probes: ReadonlySet<string> = new Set(['/healthz', '/readyz'])

function answerProbe(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  probe: string,
  phase: Lifecycle['phase'],
  identity: string,
): void {
  const status = probe === '/healthz' ? 'ok' : phase === 'serving' ? 'ready' : 'draining'
  const challenge = incoming.headers[identityHeaders.challenge]
  outgoing.writeHead(status === 'draining' ? httpStatusOf.draining : 200, {
    'content-type': 'application/json',
    ...ownSign,
    ...(typeof challenge === 'string' && {
      [identityHeaders.proof]: proofOf(identity, challenge, incoming.socket.localPort),
    }),
  })
  outgoing.end(JSON.stringify({ status }))
  cutOffUnread(outgoing)
}

// Made once: anybody may be refused as often as he likes, and a stack each time would cost more than the answer.

const upgradeNotSupported = new FoldgateError(
  'upgrade_not_supported',
  'Foldgate does not relay WebSockets. Let the client use plain HTTP, or connect it to the upstream directly.',
  { param: 'upgrade' },
)

const unknownUpstream = new FoldgateError(
  'unknown_upstream',
  'No upstream of the name behind /u/ is in the settings (upstreams in foldgate.yaml).',
)

const draining = new FoldgateError(
  'draining',
  'This Foldgate is shutting down. Try again: another one will answer.',
)

function overloaded(taking: Exclude<Taking, 'taken'>, concurrent: number): FoldgateError {
  return new FoldgateError(
    'overloaded',
    taking === 'full'
      ? `Foldgate is answering ${concurrent} requests, as many as it may (limits.concurrent). Try again shortly.`
      : `Foldgate is answering as many requests of this client as one may have while others wait: half of ${concurrent} (limits.concurrent). Try again when some of them are answered.`,
  )
}

const relayed: Route = { kind: 'relay', uncompacted: null }

/**
 * By the ends of their paths, whatever stands before: `/v1`, nothing, `/openai/v1`, Azure's `/openai/deployments/ID`. The
 * first that fits is taken.
 */
const routes: readonly (readonly [string, Route])[] = [
  ...dialects.flatMap((dialect) =>
    dialect.paths.map((path) => [`/${path}`, { kind: 'conversation', dialect }] as const),
  ),
  ['/completions', { kind: 'relay', uncompacted: '/completions' }],
]
