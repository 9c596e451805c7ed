import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { Hono } from 'hono'
import { isLoopback } from '../config/web-address.ts'
import { answerable, ClientGoneError, errorBody, FoldgateError, httpStatusOf } from '../errors.ts'
import { answerError } from '../server/answer-error.ts'
import { refuseForeignHost, refuseForeignPages } from '../server/gates.ts'
import { serverAround } from '../server/node-server.ts'
import { isSameSecret } from '../server/own-sign.ts'
import { parseTarget } from '../upstream/target.ts'
import { eventRoutes } from './event-routes.ts'
import { type AdminEnvironment, type AdminParts, adminRoutes } from './routes.ts'

type AdminOptions = AdminParts & {
  /** Called for every error that is answered here. */
  readonly onFailure: (error: FoldgateError, incoming: IncomingMessage) => void
}

/**
 * Builds the admin listener, what the operator sees of Foldgate and what can be done there: the guards, then what is
 * listed in `routes.ts` and `event-routes.ts`. It does not listen yet.
 */
export function openAdmin(options: AdminOptions): Server {
  const listener = getRequestListener(guardedRoutes(options).fetch, {
    hostname: 'localhost',
    overrideGlobalObjects: false,
    autoCleanupIncoming: false,
    errorHandler: refusedBeforeRouting,
  })
  return serverAround(
    (incoming, outgoing, fault) =>
      fault === null ? listener(incoming, outgoing) : refuse(outgoing, fault, options),
    { headersMs: options.settings.limits.headers_s * 1000, headerBytesMax: HEADER_BYTES_MAX },
  )
}

/**
 * @internal exported for tests. Wants the token where there is one: `authorization: Bearer TOKEN`, or, for browsers, which can
 * send no such header by themselves, as the password of `Basic`, under any name. Throws `admin_token_required`.
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
 * @internal exported for tests. How a client is told to send the token: a browser asks its user only for a password. It has to
 * be told so for all that a page loads as well, since it sends the password unasked only at and below the path where it was
 * first asked.
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

/** Largest request headers, in bytes: a token and what browsers and proxies add. */
const HEADER_BYTES_MAX = 16 * 1024

const guarded = { listener: 'The admin listener', origins: [], pageAdvice: '' }

function guardedRoutes(options: AdminOptions): Hono<AdminEnvironment> {
  const { admin, hosts } = options.settings
  const isLocal = isLoopback(admin.host)
  // Off loopback there always is one.
  const token = admin.token?.reveal() ?? null
  const app = new Hono<AdminEnvironment>()

  app.onError((error, context) => {
    refuse(context.env.outgoing, error, options)
    return RESPONSE_ALREADY_SENT
  })

  app.use(async function passGuards(context, next) {
    const { incoming } = context.env
    // What only this machine reaches answers under names of this machine only.
    if (isLocal) refuseForeignHost(incoming, { ...guarded, hosts })
    if (!isOpenedFromElsewhere(incoming)) refuseForeignPages(incoming, guarded)
    // The router resolves dot segments; what it is asked for is to be what was written.
    parseTarget(incoming.url ?? '')
    // By the router's own reading, which takes the `Host` into account: what is let in is what answers.
    const isRead = incoming.method === 'GET' || incoming.method === 'HEAD'
    const isOpen = admin.metrics === 'open' && context.req.path === '/metrics' && isRead
    if (!isOpen) requireToken(incoming, token)
    for (const [name, value] of Object.entries(answeredWith)) context.header(name, value)
    await next()
  })

  app.route('/', adminRoutes(options))
  app.route('/', eventRoutes(options.activity, answeredWith))
  app.all('*', () => {
    throw new FoldgateError(
      'unknown_path',
      'The admin listener has nothing here: it has GET /, /metrics, /events, /savings, /savings.csv, /conversations and /models, POST /explain, POST /conversations/ID/compact, DELETE /conversations/ID and DELETE /models/ID. Clients use the other port (--port).',
    )
  })
  return app
}

/** A target of which no URL can be made. */
function refusedBeforeRouting(): Response {
  const error = new FoldgateError('malformed_request', "The request's target is not valid.")
  return new Response(errorBody(error), {
    status: httpStatusOf[error.code],
    headers: { 'content-type': 'application/json' },
  })
}

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

function refuse(outgoing: ServerResponse, error: Error, { onFailure }: AdminOptions): void {
  if (error instanceof ClientGoneError) return
  const failure = answerable(error)
  onFailure(failure, outgoing.req)
  const challenge =
    failure.code === 'admin_token_required' ? { 'www-authenticate': challengeFor(outgoing.req) } : {}
  answerError(outgoing, failure, { ...answeredWith, ...challenge }, errorBody)
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
