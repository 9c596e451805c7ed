import type { IncomingMessage, Server } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { Hono } from 'hono'
import { ClientGoneError, errorBody, FoldgateError, httpStatusOf } from '../errors.ts'
import { answerError } from '../http/answer-error.ts'
import { refuseForeignHost, refuseForeignPages } from '../http/guard.ts'
import { requireSense, serverAround } from '../http/node-server.ts'
import { parseTarget } from '../upstream/target.ts'
import type { AdminEnvironment } from './admin-environment.ts'
import { challengeFor, requireToken } from './admin-token.ts'
import { conversationRoutes, type ConversationRoutesOptions } from './routes/conversation-routes.ts'
import { eventRoutes, type EventRoutesOptions } from './routes/event-routes.ts'
import { explainRoute, type ExplainRouteOptions } from './routes/explain-route.ts'
import { modelRoutes, type ModelRoutesOptions } from './routes/model-routes.ts'
import { answerHeaders, notHere } from './routes/answers.ts'
import { pageRoutes, type PageRoutesOptions } from './routes/page-routes.ts'

export type AdminServerOptions = PageRoutesOptions &
  ConversationRoutesOptions &
  EventRoutesOptions &
  ModelRoutesOptions &
  ExplainRouteOptions & {
    /** How long a request's headers may take to arrive, in milliseconds. */
    readonly headersMs: number
    /** Whether only this machine reaches it. Then it answers under names of this machine only. */
    readonly isLoopback: boolean
    /** Further names under which this machine may be addressed. */
    readonly hosts: readonly string[]
    /** What a request must carry; null: nothing. Off loopback there is one (`settings-rules.ts`). */
    readonly token: string | null
    readonly metrics: {
      readonly text: () => Promise<string>
      readonly contentType: string
      /** Whether they are there without the token. */
      readonly isOpen: boolean
    }
    /** Called for every error that is answered here. */
    readonly onFailure: (error: FoldgateError) => void
  }

/**
 * The listener that the operator talks to: the guards, then what is listed in `routes/`, and nothing else. It does not
 * listen yet (`listen.ts`).
 */
export function createAdminServer(options: AdminServerOptions): Server {
  const listener = getRequestListener(routes(options).fetch, {
    hostname: 'localhost',
    overrideGlobalObjects: false,
    autoCleanupIncoming: false,
    errorHandler: () => refusedBeforeRouting(),
  })
  return serverAround((incoming, outgoing) => void listener(incoming, outgoing), {
    headersMs: options.headersMs,
    headerBytesMax,
  })
}

// --- internal ---

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

function isRead({ method }: IncomingMessage): boolean {
  return method === 'GET' || method === 'HEAD'
}

function routes(options: AdminServerOptions): Hono<AdminEnvironment> {
  const app = new Hono<AdminEnvironment>()

  app.onError((error, context) => {
    const { incoming, outgoing } = context.env
    if (error instanceof ClientGoneError) return RESPONSE_ALREADY_SENT
    const failure =
      error instanceof FoldgateError
        ? error
        : new FoldgateError('internal_error', 'Foldgate failed to answer this request.', { cause: error })
    options.onFailure(failure)
    const challenge =
      failure.code === 'admin_token_required' ? { 'www-authenticate': challengeFor(incoming) } : {}
    answerError(outgoing, failure, { ...answerHeaders, ...challenge })
    return RESPONSE_ALREADY_SENT
  })

  app.use(async function passGuards(context, next) {
    const { incoming } = context.env
    requireSense(incoming)
    if (options.isLoopback) refuseForeignHost(incoming, { ...guarded, hosts: options.hosts })
    if (!isOpenedFromElsewhere(incoming)) refuseForeignPages(incoming, guarded)
    // The router resolves dot segments; what it is asked for is to be what was written.
    parseTarget(incoming.url ?? '')
    // By the router's own reading, which takes the `Host` into account: what is let in is what answers.
    const isOpen = options.metrics.isOpen && context.req.path === '/metrics' && isRead(incoming)
    if (!isOpen) requireToken(incoming, options.token)
    for (const [name, value] of Object.entries(answerHeaders)) context.header(name, value)
    await next()
  })

  app.get('/metrics', async (context) =>
    context.body(await options.metrics.text(), 200, { 'content-type': options.metrics.contentType }),
  )
  app.route('/', pageRoutes(options))
  app.route('/', conversationRoutes(options))
  app.route('/', eventRoutes(options))
  app.route('/', modelRoutes(options))
  app.route('/', explainRoute(options))
  app.all('*', () => {
    throw notHere()
  })
  return app
}
