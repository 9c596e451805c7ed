import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { Hono } from 'hono'
import { answerable, ClientGoneError, errorBody, FoldgateError, httpStatusOf } from '../errors.ts'
import { answerError } from '../http/answer-error.ts'
import { isSameSecret, refuseForeignHost, refuseForeignPages } from '../http/guard.ts'
import { serverAround } from '../http/node-server.ts'
import { parseTarget } from '../upstream/target.ts'
import {
  type AdminEnvironment,
  adminRoutes,
  eventRoutes,
  type EventRoutesOptions,
  type RoutesOptions,
} from './routes.ts'

export type AdminServerOptions = RoutesOptions &
  EventRoutesOptions & {
    /** How long a request's headers may take to arrive, in milliseconds. */
    readonly headersMs: number
    /** Whether only this machine reaches it. Then it answers under names of this machine only. */
    readonly isLoopback: boolean
    /** Further names under which this machine may be addressed. */
    readonly hosts: readonly string[]
    /** What a request must carry; null: nothing. Off loopback there always is one. */
    readonly token: string | null
    /** Whether the metrics are there without the token. */
    readonly hasOpenMetrics: boolean
    /** Called for every error that is answered here. */
    readonly onFailure: (error: FoldgateError, incoming: IncomingMessage) => void
  }

/**
 * The listener that the operator talks to: the guards, then what is listed in `routes.ts`. It does not listen yet.
 */
export function createAdminServer(options: AdminServerOptions): Server {
  const listener = getRequestListener(routes(options).fetch, {
    hostname: 'localhost',
    overrideGlobalObjects: false,
    autoCleanupIncoming: false,
    errorHandler: () => refusedBeforeRouting(),
  })
  return serverAround(
    (incoming, outgoing, fault) =>
      fault === null ? listener(incoming, outgoing) : refuse(outgoing, fault, options),
    { headersMs: options.headersMs, headerBytesMax },
  )
}

/**
 * Wants the token where there is one: `authorization: Bearer TOKEN`, or, for browsers, which can send no such header by
 * themselves, as the password of `Basic`, under any name. Throws `admin_token_required`.
 *
 * @internal exported for tests
 */
export function requireToken({ headers }: IncomingMessage, token: string | null): void {
  if (token === null) return
  const presented = presentedIn(headers.authorization ?? '')
  // What was not sent is compared as well, so that every refusal takes the same time.
  const isSame = isSameSecret(presented ?? '', token)
  if (isSame && presented !== null) return
  throw new FoldgateError(
    'admin_token_required',
    'The admin listener wants its token (admin.token_env): send it as authorization: Bearer TOKEN, or as the password in a browser, with any name.',
    { param: 'authorization' },
  )
}

/**
 * How a client is told to send the token: a browser asks its user only for a password. It has to be told so for all that
 * a page loads as well, since it sends the password unasked only at and below the path where it was first asked.
 *
 * @internal exported for tests
 */
export function challengeFor({ headers }: IncomingMessage): string {
  const isBrowser = headers['sec-fetch-dest'] !== undefined || (headers.accept ?? '').includes('text/html')
  return isBrowser ? 'Basic realm="Foldgate", charset="UTF-8"' : 'Bearer'
}

// --- internal ---

/** Nothing here is to be kept by a cache on the way, and nothing to be taken for what it is not. */
const answeredWith = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
} as const

/** A target of which no URL can be made. */
function refusedBeforeRouting(): Response {
  const error = new FoldgateError('malformed_request', "The request's target is not valid.")
  return new Response(errorBody(error), {
    status: httpStatusOf[error.code],
    headers: { 'content-type': 'application/json' },
  })
}

/** Largest request headers, in bytes: a token and what browsers and proxies add. */
const headerBytesMax = 16 * 1024

const guarded = { listener: 'The admin listener', origins: [], pageAdvice: '' }

/**
 * Whether a browser shows this in a tab because a link elsewhere was followed: that site gets to see nothing of it
 * (https://www.w3.org/TR/fetch-metadata/).
 */
function isOpenedFromElsewhere({ method, headers }: IncomingMessage): boolean {
  return (
    method === 'GET' &&
    headers.origin === undefined &&
    headers['sec-fetch-mode'] === 'navigate' &&
    headers['sec-fetch-dest'] === 'document'
  )
}

function refuse(outgoing: ServerResponse, error: Error, { onFailure }: AdminServerOptions): void {
  if (error instanceof ClientGoneError) return
  const failure = answerable(error)
  onFailure(failure, outgoing.req)
  const challenge =
    failure.code === 'admin_token_required' ? { 'www-authenticate': challengeFor(outgoing.req) } : {}
  answerError(outgoing, failure, { ...answeredWith, ...challenge }, errorBody)
}

function isRead({ method }: IncomingMessage): boolean {
  return method === 'GET' || method === 'HEAD'
}

function routes(options: AdminServerOptions): Hono<AdminEnvironment> {
  const app = new Hono<AdminEnvironment>()

  app.onError((error, context) => {
    refuse(context.env.outgoing, error, options)
    return RESPONSE_ALREADY_SENT
  })

  app.use(async function passGuards(context, next) {
    const { incoming } = context.env
    if (options.isLoopback) refuseForeignHost(incoming, { ...guarded, hosts: options.hosts })
    if (!isOpenedFromElsewhere(incoming)) refuseForeignPages(incoming, guarded)
    // The router resolves dot segments; what it is asked for is to be what was written.
    parseTarget(incoming.url ?? '')
    // By the router's own reading, which takes the `Host` into account: what is let in is what answers.
    const isOpen = options.hasOpenMetrics && context.req.path === '/metrics' && isRead(incoming)
    if (!isOpen) requireToken(incoming, options.token)
    for (const [name, value] of Object.entries(answeredWith)) context.header(name, value)
    await next()
  })

  app.route('/', adminRoutes(options))
  app.route('/', eventRoutes(options, answeredWith))
  app.all('*', () => {
    throw new FoldgateError(
      'unknown_path',
      'The admin listener has nothing here: it has GET /, /metrics, /events, /conversations and /models, POST /explain, POST /conversations/ID/compact, DELETE /conversations/ID and DELETE /models/ID. Clients use the other port (--port).',
    )
  })
  return app
}

function presentedIn(authorization: string): string | null {
  const [, bearer] = /^bearer +(\S+) *$/i.exec(authorization) ?? []
  if (bearer !== undefined) return bearer
  const [, encoded] = /^basic +([A-Za-z0-9+/_-]+={0,2}) *$/i.exec(authorization) ?? []
  if (encoded === undefined) return null
  const pair = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = pair.indexOf(':')
  return colon === -1 ? null : pair.slice(colon + 1)
}
