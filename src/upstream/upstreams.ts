import { Readable } from 'node:stream'
import { ClientGoneError, FoldgateError } from '../errors.ts'
import { parseUpstreamAddress, type UpstreamAddress } from './address.ts'
import { clientCredential, credentialHeaders, heldKeyHeader } from './credential.ts'
import { upstreamFailure } from './failure.ts'
import { createGate, type Gate } from './gate.ts'
import { asRecord, requestHeaders } from './headers.ts'
import { createPools, type HttpProxies } from './pools.ts'
import { pathAtUpstream, queryWithoutKey, type Target } from './target.ts'

export type UpstreamSettings = {
  readonly url: string
  /** The key that Foldgate holds for this upstream, read from its variable or file; null for none. */
  readonly key: string | null
  readonly headers: Readonly<Record<string, string>>
  /** How many requests may run at once; null for no limit. */
  readonly concurrency: number | null
  /** Whether an upstream other than the default one may see the client's credential. */
  readonly forwardClientKey: boolean
}

export type UpstreamTimeouts = {
  /** Until a connection stands. */
  readonly connectMs: number
  /** From the end of the request until the answer's headers. */
  readonly firstByteMs: number
  /** Between two pieces of an answer. */
  readonly idleMs: number
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
  readonly signal: AbortSignal | null
}

export type Answer = {
  readonly status: number
  readonly statusText: string
  /** Name and value by turns, as they came (latin1). */
  readonly rawHeaders: string[]
  /** The bytes as they came, still encoded. It has an error listener, so that nothing is uncaught. */
  readonly body: Readable
  /** The upstream's address without user info and query. */
  readonly address: string
  /** What an error of `body` means. */
  readonly failure: (error: unknown) => FoldgateError
}

export type Upstreams = {
  /** Rejects with `upstream_unreachable`, `upstream_timeout`, `upstream_broken` or, aborted, the signal's reason. */
  readonly send: (request: UpstreamRequest) => Promise<Answer>
  readonly has: (name: string) => boolean
  /** Throws `unknown_upstream`. */
  readonly addressOf: (name: string | null) => UpstreamAddress
  /** Whether Foldgate holds a key for any upstream. */
  readonly holdsKey: boolean
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
    upstreams.set(name, {
      name,
      settings,
      address: parseUpstreamAddress(settings.url),
      gate: createGate(settings.concurrency),
      seesClientKey: name === 'default' || settings.forwardClientKey,
    })
  }

  function upstreamNamed(name: string | null): Upstream {
    const upstream = upstreams.get(name ?? 'default')
    if (upstream !== undefined) return upstream
    throw new FoldgateError('unknown_upstream', 'No upstream of this name is in the settings (upstreams).')
  }

  async function send(request: UpstreamRequest): Promise<Answer> {
    const { name, address, gate, settings, seesClientKey } = upstreamNamed(request.upstream)
    const { signal } = request
    const body = wholeBody(request.body)
    const forwardCredential = seesClientKey && settings.key === null && !request.withholdCredential
    const headers = requestHeaders({
      rawHeaders: request.rawHeaders,
      forwardCredential,
      configured: configuredHeaders(request, settings, address),
      bodyBytes: Buffer.isBuffer(body) ? body.length : (request.bodyBytes ?? null),
      overrides: request.headerOverrides ?? {},
    })
    const target = forwardCredential
      ? request.target
      : { ...request.target, query: queryWithoutKey(request.target.query) }
    const path = pathAtUpstream(address, target)
    const { dispatcher, throughProxy } = pools.dispatcherFor(address)
    const failure = (error: unknown) => upstreamFailure(error, { name, address: address.display }, timeouts)
    const leave = await gate.enter(signal)
    try {
      const answer = await dispatcher.request({
        origin: address.origin,
        path,
        method: request.method,
        headers: throughProxy ? asRecord(headers) : headers,
        body,
        signal,
        headersTimeout: timeouts.firstByteMs,
        bodyTimeout: timeouts.idleMs,
        responseHeaders: 'raw',
      })
      answer.body.on('error', leave)
      answer.body.once('close', leave)
      return {
        status: answer.statusCode,
        statusText: answer.statusText,
        rawHeaders: rawHeadersOf(answer.headers),
        body: answer.body,
        address: address.display,
        failure,
      }
    } catch (error) {
      leave()
      signal?.throwIfAborted()
      if (error instanceof ClientGoneError) throw error
      throw failure(error)
    }
  }

  return {
    send,
    has: (name) => upstreams.has(name),
    addressOf: (name) => upstreamNamed(name).address,
    holdsKey: [...upstreams.values()].some(holdsCredential),
    busy: (name) => upstreamNamed(name).gate.busy(),
    destroy: pools.destroy,
  }
}

// --- internal ---

type Upstream = {
  readonly name: string
  readonly settings: UpstreamSettings
  readonly address: UpstreamAddress
  readonly gate: Gate
  readonly seesClientKey: boolean
}

/** A credential may stand in the key, in a header, in the address's user info or in its query. */
function holdsCredential({ settings, address }: Upstream): boolean {
  return (
    settings.key !== null ||
    address.authorization !== null ||
    Object.keys(settings.headers).some((name) => credentialHeaders.has(name.toLowerCase())) ||
    queryWithoutKey(`?${address.query}`) !== `?${address.query}`
  )
}

function configuredHeaders(
  request: UpstreamRequest,
  settings: UpstreamSettings,
  address: UpstreamAddress,
): (readonly [string, string])[] {
  const configured = Object.entries(settings.headers)
  const names = new Set(configured.map(([name]) => name.toLowerCase()))
  if (settings.key !== null) {
    const place = clientCredential(request.rawHeaders, request.target.query)?.place ?? null
    const [name, value] = heldKeyHeader(settings.key, place, address.origin)
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

/** undici's types do not know that `responseHeaders: 'raw'` makes a flat list of them. */
function rawHeadersOf(headers: unknown): string[] {
  return Array.isArray(headers) ? headers.map(String) : []
}
