import type { Readable } from 'node:stream'
import type { LiveKey } from '../config/api-keys.ts'
import type { ConfiguredUpstream } from '../config/settings.ts'
import { ClientGoneError, FoldgateError } from '../errors.ts'
import { parseUpstreamAddress, type UpstreamAddress } from './address.ts'
import { type ClientCredential, clientCredentials, heldKeyHeader, isCredentialHeader } from './credential.ts'
import { upstreamFailure, type UpstreamLimits } from './failure.ts'
import type { Cancellation } from './cancellation.ts'
import { createGate, type Gate } from './concurrency.ts'
import { asRecord, requestHeaders } from './headers.ts'
import { createPools, type HttpProxies, type Pools } from './pools.ts'
import { pathAtUpstream, queryWithoutKey, type Target } from './target.ts'
import { type Dispatcher, errors } from 'undici'
import { AnswerBody, GivenUpError } from './answer-body.ts'

/** The settings that say where upstreams are, and how long each may keep its requests waiting. */
export type UpstreamsSettings = {
  readonly upstreams: ReadonlyMap<string, UpstreamSettings>
  readonly limits: UpstreamLimits
}

/** An upstream as far as it matters on the way to it. Its key is asked for with each request, since it may change. */
export type UpstreamSettings = Omit<ConfiguredUpstream, 'name' | 'key' | 'drops_client_key'> & {
  readonly key: Pick<LiveKey, 'now'> | null
}

/** What of a client's request every request to an upstream takes over. */
export type ClientPart = {
  readonly method: string
  /** The client's target; it is joined to the upstream's own path here. */
  readonly target: Target
  /** The client's headers, name and value by turns, as they came. */
  readonly rawHeaders: readonly string[]
  /** True where the client's credential is a key of Foldgate's own, which no upstream may see. */
  readonly withholdCredential: boolean
  /** Cancels the request, also while it waits for its turn, and the answer's body. */
  readonly signal: Cancellation | null
}

export type UpstreamRequest = ClientPart & {
  /** A name from the settings; null for the default upstream. */
  readonly upstream: string | null
  /** A stream's length must be given by `bodyBytes` or it is sent in chunks. */
  readonly body: Buffer | Readable | null
  readonly bodyBytes?: number | null
  /** Headers by lower-case name that this request changes: a value replaces, null drops. */
  readonly headerOverrides?: Readonly<Record<string, string | null>>
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

export type Answer = DispatchedAnswer & {
  /** The upstream's address. */
  readonly address: string
  /** An error of `body` as one of Foldgate's own. */
  readonly failure: (error: unknown) => FoldgateError
  /** Whose key was refused, where the answer is such a refusal and does not say it; null: nothing to say. */
  readonly hint: string | null
}

export type Upstreams = ReturnType<typeof openUpstreams>

/**
 * Opens the way to the upstreams of the settings: one pool for each origin, one queue for each upstream. `onKeyRefused` is
 * called where one refuses a client's request for a key that the client did not choose, or for none.
 */
export function openUpstreams(
  { upstreams: all, limits }: UpstreamsSettings,
  proxies: HttpProxies,
  onKeyRefused?: (upstream: string, status: number, hint: string) => void,
) {
  const pools = createPools({ connectMs: limits.connect_s * 1000, proxies })
  const upstreams = new Map<string, Upstream>()
  for (const [name, settings] of all) {
    const address = parseUpstreamAddress(settings.url)
    const configured = configuredHeaders(null, settings, address, null)
    upstreams.set(name, {
      name,
      settings,
      address,
      ...pools.dispatcherFor(address),
      gate: createGate(settings.concurrency),
      seesClientKey: settings.key === null && (name === 'default' || settings.forward_client_key),
      failure: (error) =>
        upstreamFailure(error, { address: address.display, setBy: settings.set_by }, limits),
      configured,
      configuredNames: new Set(configured.map(([header]) => header.toLowerCase())),
    })
  }

  function upstreamNamed(name: string | null): Upstream {
    const upstream = upstreams.get(name ?? 'default')
    if (upstream !== undefined) return upstream
    throw new FoldgateError('unknown_upstream', 'No upstream of this name is in the settings (upstreams).')
  }

  /** Rejects with `upstream_unreachable`, `upstream_timeout`, `upstream_broken` or, aborted, the signal's reason. */
  async function send(request: UpstreamRequest): Promise<Answer> {
    const upstream = upstreamNamed(request.upstream)
    const path = pathAtUpstream(upstream.address, request.target)
    const { gate } = upstream
    if (!gate.enterNow()) await gate.enter(request.signal)
    const answer = await dispatch(upstream, request, path, request.target.query, gate.leave)
    if (answer.hint !== null) onKeyRefused?.(upstream.name, answer.status, answer.hint)
    return answer
  }

  /**
   * As `send`, but only where the upstream has a place free: null where it has none. A client's request that wants the
   * place later gets it: then this one breaks off.
   */
  async function sendIdle(
    request: UpstreamRequest & { readonly signal: AbortSignal | null },
  ): Promise<Answer | null> {
    const upstream = upstreamNamed(request.upstream)
    const path = pathAtUpstream(upstream.address, request.target)
    const place = upstream.gate.enterIdle()
    if (place === null) return null
    const signal = request.signal === null ? place.wanted : AbortSignal.any([request.signal, place.wanted])
    return dispatch(upstream, { ...request, signal }, path, request.target.query, place.leave)
  }

  /** As `send`, but past the queue: what Foldgate asks is small and must not wait behind long answers. */
  async function ask(request: OwnRequest): Promise<Answer> {
    const { upstream, path, query } = request
    if (path.startsWith('//')) throw new TypeError('A path at an upstream does not begin with two slashes.')
    return dispatch(upstreamNamed(upstream), request, path, query, () => {})
  }

  /**
   * Sends from a place in the queue, which is left once, when the answer has ended. `path`: at the upstream, without a
   * query. `query`: the client's own.
   */
  async function dispatch(
    upstream: Upstream,
    request: DispatchedRequest,
    path: string,
    query: string,
    leave: () => void,
  ): Promise<Answer> {
    const { address, settings, failure, dispatcher, throughProxy } = upstream
    const { signal, body, rawHeaders, method } = request
    try {
      if (signal?.aborted === true) throw signal.reason
      let { configured } = upstream
      if (settings.key !== null) {
        // Only now: a held key may have changed while the request waited for its turn.
        const place = request.keyPlace ?? clientCredentials(rawHeaders, query)[0]?.place ?? null
        configured = configuredHeaders(place, settings, address, path)
      }
      const forwardCredential = upstream.seesClientKey && !request.withholdCredential
      const headers = requestHeaders({
        rawHeaders,
        forwardCredential,
        configured,
        bodyBytes: Buffer.isBuffer(body) ? body.length : (request.bodyBytes ?? null),
        overrides: request.headerOverrides ?? {},
      })
      const sending = {
        origin: address.origin,
        path: path + (forwardCredential || query === '' ? query : queryWithoutKey(query)),
        method,
        headers: throughProxy ? asRecord(headers) : headers,
        body,
        headersTimeout: limits.first_byte_s * 1000,
        bodyTimeout: limits.idle_s * 1000,
      }
      const sentAtMs = performance.now()
      let answer: DispatchedAnswer
      try {
        answer = await dispatchRequest(dispatcher, sending, signal)
      } catch (error) {
        // A stream has been read by now, and what changes something at a server is not for us to repeat.
        const isRepeatable = Buffer.isBuffer(body) || method === 'GET' || method === 'HEAD'
        const isStale = isStaleConnection(error, performance.now() - sentAtMs)
        if (throughProxy || !isRepeatable || isGivenUp(signal) || !isStale) throw error
        answer = await pools.overFresh(address, (fresh) => dispatchRequest(fresh, sending, signal))
      }
      answer.body.onceOver(leave)
      return {
        ...answer,
        address: address.display,
        failure,
        hint: hintFor(upstream, request, query, answer.status),
      }
    } catch (error) {
      leave()
      if (signal?.aborted === true) throw signal.reason
      if (error instanceof ClientGoneError) throw error
      throw failure(error)
    }
  }

  return {
    send,
    sendIdle,
    ask,
    /** Whether the upstream would get to see any of these credentials. Throws `unknown_upstream`. */
    seesCredentialOf: ({
      upstream: name,
      target,
      rawHeaders,
      withholdCredential,
    }: Pick<UpstreamRequest, 'upstream' | 'target' | 'rawHeaders' | 'withholdCredential'>): boolean => {
      const upstream = upstreamNamed(name)
      if (!upstream.seesClientKey || withholdCredential) return false
      return clientCredentials(rawHeaders, target.query).some(
        ({ place }) => !upstream.configuredNames.has(place),
      )
    },
    has: (name: string): boolean => upstreams.has(name),
    /** Throws `unknown_upstream`. */
    addressOf: (name: string | null): UpstreamAddress => upstreamNamed(name).address,
    destroy: pools.destroy,
  }
}

// --- internal ---

/** Asked anew each time: it may be given up while it is on its way. */
function isGivenUp(signal: Cancellation | null): boolean {
  return signal?.aborted === true
}

type DispatchedRequest = Omit<UpstreamRequest, 'upstream' | 'target'> & Partial<Pick<OwnRequest, 'keyPlace'>>

type Upstream = ReturnType<Pools['dispatcherFor']> & {
  readonly name: string
  readonly settings: UpstreamSettings
  readonly address: UpstreamAddress
  readonly gate: Gate
  /** Whether the client's credential goes there, unless it is a key of Foldgate's own. */
  readonly seesClientKey: boolean
  readonly failure: Answer['failure']
  /** The headers of its settings, if Foldgate holds no key for it: such a key goes where the client's own would. */
  readonly configured: readonly (readonly [string, string])[]
  /** The same by lower-case name, a held key in its usual place. */
  readonly configuredNames: ReadonlySet<string>
}

function configuredHeaders(
  keyPlace: ClientCredential['place'] | null,
  { headers, key }: UpstreamSettings,
  { origin }: UpstreamAddress,
  path: string | null,
): (readonly [string, string])[] {
  const configured = Object.entries(headers)
  if (key === null) return configured
  const held = heldKeyHeader(key.now()[0].reveal(), keyPlace, origin, path)
  return configured.some(([name]) => name.toLowerCase() === held[0]) ? configured : [...configured, held]
}

/** An answer as it came off the wire. */
type DispatchedAnswer = {
  readonly status: number
  readonly statusText: string
  /** Name and value by turns, as they came (latin1). */
  readonly rawHeaders: string[]
  readonly body: AnswerBody
}

/**
 * Sends a request and resolves with the head of its answer. Rejects with undici's error, or with the signal's reason:
 * aborted before the answer is complete, the request is cancelled and its body breaks off.
 */
function dispatchRequest(
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  signal: Cancellation | null,
): Promise<DispatchedAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<DispatchedAnswer>()
  let running: Dispatcher.DispatchController | null = null
  let body: AnswerBody | null = null
  /** Why it is not wanted any more. */
  let given: Error | null = null

  function abort(reason: Error): void {
    given ??= reason
    running?.abort(given)
  }
  function cancel(): void {
    const reason: unknown = signal?.reason
    abort(reason instanceof Error ? reason : new GivenUpError())
  }
  if (signal?.aborted === true) cancel()
  else signal?.addEventListener('abort', cancel)
  // undici's own `request` makes a stream of every answer, which costs more than the rest of the request.
  dispatcher.dispatch(options, {
    onRequestStart: (controller) => {
      running = controller
      if (given !== null) controller.abort(given)
    },
    onResponseStart: (controller, status, _headers, statusText = '') => {
      if (status < 200) return
      body = new AnswerBody({
        pause: () => controller.pause(),
        resume: () => controller.resume(),
        abort: () => abort(new GivenUpError()),
      })
      resolve({ status, statusText, rawHeaders: textsOf(controller.rawHeaders), body })
    },
    onResponseData: (_controller, piece) => body?.feed(piece),
    onResponseEnd: () => {
      signal?.removeEventListener('abort', cancel)
      body?.finish()
    },
    onResponseError: (_controller, error) => {
      signal?.removeEventListener('abort', cancel)
      if (body === null) reject(error)
      else body.fail(error)
    },
  })
  return promise
}

/** Proxy agents give headers as a record, pools as a flat list. */
function textsOf(headers: Dispatcher.DispatchController['rawHeaders']): string[] {
  if (headers === null || headers === undefined) return []
  if (Array.isArray(headers)) {
    const texts: string[] = []
    for (const text of headers) texts.push(typeof text === 'string' ? text : text.toString('latin1'))
    return texts
  }
  return Object.entries(headers).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value ?? '']).flatMap((each) => [name, each]),
  )
}

/**
 * Whose key the upstream got, for `x-foldgate-hint` and the log: what its own error cannot know. Null where the client's
 * own key was refused, of which the error says all. Never holds a key, nor a setting's value, which may be one by mistake.
 */
function hintFor(
  { name, settings, seesClientKey }: Upstream,
  { rawHeaders, withholdCredential }: DispatchedRequest,
  query: string,
  status: number,
): string | null {
  // Nearly every answer: nothing of the request is looked at.
  if (status !== 401 && status !== 403) return null
  if (settings.key !== null)
    return `the upstream "${name}" got Foldgate's own key (its api_key_env or api_key_file in foldgate.yaml), not the client's`
  if (Object.keys(settings.headers).some(isCredentialHeader))
    return `the upstream "${name}" got the credential in its headers in foldgate.yaml, not the client's key`
  const howToGiveOne = 'give it one by api_key_env or api_key_file in foldgate.yaml'
  if (withholdCredential)
    return `the upstream "${name}" got no key: the client's is one of client_keys, which opens Foldgate alone; ${howToGiveOne}`
  const clientHasKey = clientCredentials(rawHeaders, query).length > 0
  if (!seesClientKey) {
    const dropped = clientHasKey ? "the client's goes to the default upstream only" : 'the client sent none'
    return `the upstream "${name}" got no key: ${dropped}; ${howToGiveOne}, or let it have the client's by forward_client_key: true`
  }
  return clientHasKey
    ? null
    : `the upstream "${name}" got no key: the client sent none, and Foldgate has none for it`
}

/**
 * Whether a request met a kept connection that its server was about to close: it had carried answers before, and ended at
 * once, before any of this one: a server that works on a request takes longer. Such a request was not answered by anybody, and may be sent once more (RFC 9110, 9.2.2, leaves
 * that to who knows what a request does: asking a model again changes nothing). llama.cpp's servers close connections that
 * they have promised to keep.
 */
function isStaleConnection(error: unknown, afterMs: number): boolean {
  return afterMs <= CLOSING_MS && error instanceof errors.SocketError && (error.socket?.bytesRead ?? 0) > 0
}

/** A close that was on its way arrives within this, in milliseconds. */
const CLOSING_MS = 100
