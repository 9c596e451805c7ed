import type { IncomingMessage, Server } from 'node:http'
import type { HttpBindings } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { Hono } from 'hono'
import { FoldgateError } from '../errors.ts'
import { answerError } from '../proxy/wire/answer-error.ts'
import { refuseForeignHost, refuseForeignPages } from '../proxy/wire/guard.ts'
import { requireSense, serverAround } from '../proxy/wire/node-server.ts'
import { parseTarget } from '../upstream/target.ts'
import { requireToken } from './admin-token.ts'

export type AdminServerOptions = {
  /** How long a request's headers may take to arrive, in milliseconds. */
  readonly headersMs: number
  /** Whether only this machine reaches it. Then it answers under names of this machine only. */
  readonly isLoopback: boolean
  /** Further names under which this machine may be addressed. */
  readonly hosts: readonly string[]
  /** What a request must carry; null: nothing. Off loopback there is one (`settings-rules.ts`). */
  readonly token: string | null
  /** Deletes what is kept of a conversation. What it throws is answered here. */
  readonly deleteConversation: (id: string) => Promise<void>
  /** Called for every error that is answered here. */
  readonly onFailure?: (error: FoldgateError) => void
}

/**
 * The listener that the operator talks to: the guards, then what is listed in `routes`, and nothing else. It does not
 * listen yet (`listen.ts`).
 */
export function createAdminServer(options: AdminServerOptions): Server {
  return serverAround(routes(options).fetch, { headersMs: options.headersMs, headerBytesMax })
}

// --- internal ---

/** Largest request headers, in bytes: a token and what browsers and proxies add. */
const headerBytesMax = 16 * 1024

/** Largest body of a request that wants none, in bytes: some clients send an empty object. */
const unwantedBodyBytesMax = 1024

const foreignHost =
  'The admin listener answers only under names of this machine. Add the name to hosts in foldgate.yaml.'

const foreignPage = 'The admin listener refuses pages of other sites.'

function routes(options: AdminServerOptions): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>()

  app.onError((error, context) => {
    const failure =
      error instanceof FoldgateError
        ? error
        : new FoldgateError('internal_error', 'Foldgate failed to answer this request.', { cause: error })
    options.onFailure?.(failure)
    answerError(context.env.outgoing, failure, answerHeaders)
    return RESPONSE_ALREADY_SENT
  })

  app.use(async function passGuards(context, next) {
    const { incoming } = context.env
    requireSense(incoming)
    if (options.isLoopback) refuseForeignHost(incoming, options.hosts, foreignHost)
    refuseForeignPages(incoming, [], foreignPage)
    requireToken(incoming, options.token)
    // The router resolves dot segments; what it is asked for is to be what was written.
    parseTarget(incoming.url ?? '')
    for (const [name, value] of Object.entries(answerHeaders)) context.header(name, value)
    await next()
  })

  app.delete('/conversations/:id', async (context) => {
    refuseBody(context.env.incoming)
    await options.deleteConversation(context.req.param('id'))
    return context.body(null, 204)
  })

  app.all('*', () => {
    throw new FoldgateError(
      'unknown_path',
      'The admin listener has nothing here: it takes DELETE /conversations/ID. Clients use the other port (--port).',
    )
  })
  return app
}

/** Nothing here is to be kept by a cache on the way, and nothing to be taken for what it is not. */
const answerHeaders = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' } as const

function refuseBody({ headers }: IncomingMessage): void {
  const isSmall = Number(headers['content-length'] ?? 0) <= unwantedBodyBytesMax
  if (isSmall && headers['transfer-encoding'] === undefined) return
  throw new FoldgateError('body_too_large', 'This request takes no body: send it without one.')
}
