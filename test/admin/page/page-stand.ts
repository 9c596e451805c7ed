import { once } from 'node:events'
import { createAdaptorServer } from '@hono/node-server'
import { Hono } from 'hono'
import { streamSSE } from 'hono/streaming'
import { contentSecurityPolicy, pageAssets } from '../../../src/admin/page/page-frame.ts'
import { conversationPage } from '../../../src/admin/page/conversation-page.ts'
import { homePage, type HomePageOptions } from '../../../src/admin/page/home-page.ts'
import type { ConversationDetail } from '../../../src/telemetry/conversations/read-conversations.ts'
import { freePort } from '../../support/free-port.ts'
import {
  agentEvents,
  detailWith,
  now,
  someConversations,
  someModels,
  someTotals,
  someUnread,
} from './made-up.ts'

export type Shown = Omit<HomePageOptions, 'now' | 'version' | 'store'> & {
  /** What the page of a conversation shows; null: it is not there. */
  readonly detail: ConversationDetail | null
}

export type PageStand = Awaited<ReturnType<typeof pageStand>>

/** The pages on a server of the test's own, showing made-up data. */
export async function pageStand(changes: Partial<Shown> = {}) {
  let shown: Shown = {
    totals: someTotals(),
    conversations: someConversations(),
    query: {},
    unread: someUnread(),
    models: someModels(),
    events: agentEvents(),
    hasPrices: true,
    clientUrl: 'http://127.0.0.1:3653/v1',
    detail: detailWith(),
    status: { well: true, troubles: [] },
    ...changes,
  }
  const setting = { now, version: '0.1.0', store: 'sqlite:/var/lib/foldgate/foldgate.sqlite' }
  const listeners = new Set<(conversation: string | null) => void>()
  const asked: string[] = []
  const answer: { status: number; message?: string } = { status: 202 }
  const app = new Hono()

  app.use(async (context, next) => {
    asked.push(`${context.req.method} ${context.req.path}`)
    await next()
    context.header('content-security-policy', contentSecurityPolicy)
    context.header('cache-control', 'no-store')
    context.header('x-content-type-options', 'nosniff')
  })
  app.get('/', (context) => context.html(homePage({ ...shown, query: context.req.query(), ...setting })))
  app.get('/conversations/:id', (context) =>
    shown.detail === null
      ? context.notFound()
      : context.html(conversationPage({ conversation: shown.detail, status: shown.status, ...setting })),
  )
  app.get('/changes', (context) =>
    streamSSE(context, async (stream) => {
      const tell = (conversation: string | null) =>
        void stream.writeSSE({ data: JSON.stringify({ conversation }) })
      listeners.add(tell)
      await new Promise<void>((resolve) => stream.onAbort(resolve))
      listeners.delete(tell)
    }),
  )
  app.on(['POST', 'DELETE'], ['/conversations/*', '/models/*'], () => {
    const { status, message } = stand.answer
    return new Response(message === undefined ? null : JSON.stringify({ error: { message } }), { status })
  })
  app.get('/assets/*', (context) => {
    const asset = pageAssets().get(context.req.path)
    return asset === undefined
      ? context.notFound()
      : context.body(asset.body, 200, { 'content-type': asset.type })
  })

  const open = async (port: number) => {
    const server = createAdaptorServer({ fetch: app.fetch, overrideGlobalObjects: false })
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return server
  }
  const port = await freePort()
  let server = await open(port)

  async function vanish(): Promise<void> {
    const closed = once(server, 'close')
    server.close()
    if ('closeAllConnections' in server) server.closeAllConnections()
    await closed
  }

  const stand = {
    origin: `http://127.0.0.1:${port}`,
    /** Method and path of everything that was asked, in order. */
    asked,
    /** What the buttons are answered. */
    answer,
    /** Shows something else from now on, and says so on `/changes`. */
    show: (more: Partial<Shown>, conversation: string | null = null) => {
      shown = { ...shown, ...more }
      for (const tell of listeners) tell(conversation)
    },
    /** Breaks every connection and refuses new ones until `return`. */
    vanish,
    return: async () => {
      server = await open(port)
    },
    [Symbol.asyncDispose]: async () => {
      if (server.listening) await vanish()
    },
  }
  return stand
}
