import { Readable } from 'node:stream'
import { ClientGoneError, FoldgateError } from '../errors.ts'
import type { AnswerBody } from './answer-body.ts'
import { parseUpstreamAddress, type UpstreamAddress } from './address.ts'
import { clientCredential, clientCredentials, heldKeyHeader, type ClientCredential } from './credential.ts'
import { dispatchRequest } from './dispatch.ts'
import { upstreamFailure, type UpstreamTimeouts } from './failure.ts'
import type { Cancellation } from './cancellation.ts'
import { createGate, type Gate } from './gate.ts'
import { asRecord, requestHeaders } from './headers.ts'
import { createPools, type HttpProxies } from './pools.ts'
import { isStaleConnection } from './stale-connection.ts'
import { pathAtUpstream, queryWithoutKey, withQuery, type Target } from './target.ts'

export type UpstreamSettings = {
  readonly url: string
  /** The key that Foldgate holds for this upstream, asked for with each request since it may change; null for none. */
  readonly key: (() => string) | null
  readonly headers: Readonly<Record<string, string>>
  /** How many requests may run at once; null for no limit. */
  readonly concurrency: number | null
  /** Whether an upstream other than the default one may see the client's credential. */
  readonly forwardClientKey: boolean
}

export type UpstreamsOptions = {
  /** By name; `default` must be among them. */
  readonly upstreams: Readonly<Record<string, UpstreamSettings>>
  readonly timeouts: UpstreamTimeouts
  readonly proxies: HttpProxies
}

export type UpstreamRequest = {
  /** A name from the settings; null for the default upstream. */
  readonly upstream: string | null
  readonly method: string
  /** The client's target; it is joined to the upstream's own path here. */
  readonly target: Target
  /** The client's headers, name and value by turns, as they came. */
  readonly rawHeaders: readonly string[]
  /** True where the client's credential is a key of Foldgate's own, which no upstream may see. */
  readonly withholdCredential: boolean
  /** A stream's length must be given by `bodyBytes` or it is sent in chunks. */
  readonly body: Buffer | readonly Buffer[] | Readable | null
  readonly bodyBytes?: number | null
  /** Headers by lower-case name that this request changes: a value replaces, null drops. */
  readonly headerOverrides?: Readonly<Record<string, string | null>>
  /** Cancels the request, also while it waits for its turn, and the answer's body. */
  readonly signal: Cancellation | null
}

/** A request of Foldgate's own to an upstream: not a client's, but sent with the client's credential. */
export type OwnRequest = Pick<
  UpstreamRequest,
  'upstream' | 'rawHeaders' | 'withholdCredential' | 'signal'
> & {
  readonly method: 'GET' | 'POST'
  /** Absolute at the upstream: it is not joined to the URL's own path. Two leading slashes are refused. */
  readonly path: string
  /** With its question mark, or empty. A `key=` is dropped where the client's credential must not be seen. */
  readonly query: string
  /** Where this server looks for a key that Foldgate holds; null: where the client put its own. */
  readonly keyPlace: ClientCredential['place'] | null
  readonly body: Buffer | null
}

/** A request that gives way: it breaks off where another wants its place. */
export type IdleRequest = UpstreamRequest & { readonly signal: AbortSignal | null }

/** Where a request has its credentials, and whether they are Foldgate's own. */
export type CredentialBearer = Pick<
  UpstreamRequest,
  'upstream' | 'target' | 'rawHeaders' | 'withholdCredential'
>

export type Answer = {
  readonly status: number
  readonly statusText: string
  /** Name and value by turns, as they came (latin1). */
  readonly rawHeaders: string[]
  /** The bytes as they came, still encoded. */
  readonly body: AnswerBody
  /** The upstream's address without user info and query. */
  readonly address: string
  /** What an error of `body` means. */
  readonly failure: (error: unknown) => FoldgateError
}

export type Upstreams = {
  /** Rejects with `upstream_unreachable`, `upstream_timeout`, `upstream_broken` or, aborted, the signal's reason. */
  readonly send: (request: UpstreamRequest) => Promise<Answer>
  /** As `send`, but past the queue: what Foldgate asks is small and must not wait behind long answers. */
  readonly ask: (request: OwnRequest) => Promise<Answer>
  /**
   * As `send`, but only where the upstream has a place free: null where it has none. A client's request that wants the
   * place later gets it: then this one breaks off.
   */
  readonly sendIdle: (request: IdleRequest) => Promise<Answer | null>
  /** Whether the upstream would get to see any of these credentials. Throws `unknown_upstream`. */
  readonly seesCredentialOf: (request: CredentialBearer) => boolean
  readonly has: (name: string) => boolean
  /** Throws `unknown_upstream`. */
  readonly addressOf: (name: string | null) => UpstreamAddress
  /** How many requests to an upstream run or wait. */
  readonly busy: (name: string | null) => number
  readonly destroy: () => Promise<void>
}

/** Opens the way to the configured upstreams: one pool for each origin, one queue for each upstream. */
export function createUpstreams(options: UpstreamsOptions): Upstreams {
  const { timeouts } = options
  const pools = createPools({ connectMs: timeouts.connectMs, proxies: options.proxies })
  const upstreams = new Map<string, Upstream>()
  for (const [name, settings] of Object.entries(options.upstreams)) {
    const address = parseUpstreamAddress(settings.url)
    upstreams.set(name, {
      name,
      settings,
      address,
      gate: createGate(settings.concurrency),
      seesClientKey: name === 'default' || settings.forwardClientKey,
      failure: (error) => upstreamFailure(error, { name, address: address.display }, timeouts),
      ...configuredFor(settings, address),
    })
  }

  function upstreamNamed(name: string | null): Upstream {
    const upstream = upstreams.get(name ?? 'default')
    if (upstream !== undefined) return upstream
    throw new FoldgateError('unknown_upstream', 'No upstream of this name is in the settings (upstreams).')
  }

  async function send(request: UpstreamRequest): Promise<Answer> {
    const upstream = upstreamNamed(request.upstream)
    const dispatch = prepareSending(upstream, request)
    return dispatch(upstream.gate.enterNow() ?? (await upstream.gate.enter(request.signal)))
  }

  async function sendIdle(request: IdleRequest): Promise<Answer | null> {
    const upstream = upstreamNamed(request.upstream)
    const place = upstream.gate.enterIdle()
    if (place === null) return null
    const signal = request.signal === null ? place.wanted : AbortSignal.any([request.signal, place.wanted])
    let dispatch: Dispatch
    try {
      dispatch = prepareSending(upstream, { ...request, signal })
    } catch (error) {
      place.leave()
      throw error
    }
    return dispatch(place.leave)
  }

  function prepareSending(upstream: Upstream, request: UpstreamRequest): Dispatch {
    const { target } = request
    return prepare(upstream, request, {
      keyPlace: () => clientCredential(request.rawHeaders, target.query)?.place ?? null,
      query: target.query,
      pathWith: (query) => pathAtUpstream(upstream.address, { ...target, query }),
    })
  }

  async function ask(request: OwnRequest): Promise<Answer> {
    const upstream = upstreamNamed(request.upstream)
    const { path, query, rawHeaders } = request
    if (path.startsWith('//')) throw new TypeError('A path at an upstream does not begin with two slashes.')
    return prepare(upstream, request, {
      keyPlace: () => request.keyPlace ?? clientCredential(rawHeaders, query)?.place ?? null,
      query,
      pathWith: (allowedQuery) => withQuery(upstream.address, path, allowedQuery),
    })(() => {})
  }

  /** Decides what the upstream gets to see, and who may see which credential; the returned function sends it. */
  function prepare(
    upstream: Upstream,
    request: Pick<UpstreamRequest, 'method' | 'rawHeaders' | 'withholdCredential' | 'body' | 'signal'> &
      Partial<Pick<UpstreamRequest, 'bodyBytes' | 'headerOverrides'>>,
    where: {
      /** Where the client put its own credential, asked only where Foldgate holds a key. */
      readonly keyPlace: () => ClientCredential['place'] | null
      readonly query: string
      readonly pathWith: (query: string) => string
    },
  ): Dispatch {
    const { address, settings, failure } = upstream
    const { signal } = request
    const body = wholeBody(request.body)
    const forwardCredential = forwardsCredential(upstream, request)
    const headersNow = (): string[] =>
      requestHeaders({
        rawHeaders: request.rawHeaders,
        forwardCredential,
        configured:
          settings.key === null
            ? upstream.configured
            : configuredHeaders(where.keyPlace(), settings, address),
        bodyBytes: Buffer.isBuffer(body) ? body.length : (request.bodyBytes ?? null),
        overrides: request.headerOverrides ?? {},
      })
    const path = where.pathWith(forwardCredential ? where.query : queryWithoutKey(where.query))
    const { dispatcher, throughProxy } = pools.dispatcherFor(address)

    return async function dispatch(leave) {
      try {
        signal?.throwIfAborted()
        // Only now: a held key may have changed while the request waited for its turn.
        const headers = headersNow()
        const sending = {
          origin: address.origin,
          path,
          method: request.method,
          headers: throughProxy ? asRecord(headers) : headers,
          body,
          headersTimeout: timeouts.firstByteMs,
          bodyTimeout: timeouts.idleMs,
        }
        const sentAtMs = performance.now()
        const {
          status,
          statusText,
          rawHeaders,
          body: answerBody,
        } = await dispatchRequest(dispatcher, sending, signal).catch((error: unknown) => {
          // A stream has been read by now, and what changes something at a server is not for us to repeat.
          const isRepeatable = Buffer.isBuffer(body) || ['GET', 'HEAD'].includes(request.method)
          const isStale = isStaleConnection(error, performance.now() - sentAtMs)
          if (throughProxy || !isRepeatable || signal?.aborted === true || !isStale) throw error
          return pools.overFresh(address, (fresh) => dispatchRequest(fresh, sending, signal))
        })
        answerBody.onceOver(leave)
        return { status, statusText, rawHeaders, body: answerBody, address: address.display, failure }
      } catch (error) {
        leave()
        signal?.throwIfAborted()
        if (error instanceof ClientGoneError) throw error
        throw failure(error)
      }
    }
  }

  return {
    send,
    sendIdle,
    ask,
    seesCredentialOf: (request) => {
      const upstream = upstreamNamed(request.upstream)
      if (!forwardsCredential(upstream, request)) return false
      return clientCredentials(request.rawHeaders, request.target.query).some(
        ({ place }) => !upstream.configuredNames.has(place),
      )
    },
    has: (name) => upstreams.has(name),
    addressOf: (name) => upstreamNamed(name).address,
    busy: (name) => upstreamNamed(name).gate.busy(),
    destroy: pools.destroy,
  }
}

// --- internal ---

/** Sends from a place in the queue, which is left once the answer has ended. */
type Dispatch = (leave: () => void) => Promise<Answer>

type Upstream = {
  readonly name: string
  readonly settings: UpstreamSettings
  readonly address: UpstreamAddress
  readonly gate: Gate
  readonly seesClientKey: boolean
  readonly failure: Answer['failure']
  /** What it is sent of its settings, where Foldgate holds no key for it: that one goes where the client's own would. */
  readonly configured: readonly (readonly [string, string])[]
  /** The same by lower-case name, a held key in its usual place. */
  readonly configuredNames: ReadonlySet<string>
}

function configuredFor(
  settings: UpstreamSettings,
  address: UpstreamAddress,
): Pick<Upstream, 'configured' | 'configuredNames'> {
  const configured = configuredHeaders(null, settings, address)
  return { configured, configuredNames: new Set(configured.map(([name]) => name.toLowerCase())) }
}

function forwardsCredential(
  { settings, seesClientKey }: Upstream,
  { withholdCredential }: Pick<UpstreamRequest, 'withholdCredential'>,
): boolean {
  return seesClientKey && settings.key === null && !withholdCredential
}

function configuredHeaders(
  keyPlace: ClientCredential['place'] | null,
  settings: UpstreamSettings,
  address: UpstreamAddress,
): (readonly [string, string])[] {
  const configured = Object.entries(settings.headers)
  const names = new Set(configured.map(([name]) => name.toLowerCase()))
  if (settings.key !== null) {
    const [name, value] = heldKeyHeader(settings.key(), keyPlace, address.origin)
    if (!names.has(name)) configured.push([name, value])
  } else if (address.authorization !== null && !names.has('authorization')) {
    configured.push(['authorization', address.authorization])
  }
  return configured
}

function wholeBody(body: UpstreamRequest['body']): Buffer | Readable | null {
  if (body === null || Buffer.isBuffer(body) || body instanceof Readable) return body
  return Buffer.concat(body)
}
