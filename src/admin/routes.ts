import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HttpBindings } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import type { Conversations } from '../activity/conversations/conversations.ts'
import type { Journal } from '../activity/journal/journal.ts'
import { isConversationId, noConversationId } from '../conversation/keys.ts'
import { FoldgateError } from '../errors.ts'
import { receiveBody, type ReceiveBodyOptions } from '../http/receive-body.ts'
import type { Holder } from '../scheduling/fair-share.ts'
import type { ModelCard } from './models/model-cards.ts'
import { contentSecurityPolicy, pageAssets } from './page/assets.ts'
import { conversationPage } from './page/conversation-page.ts'
import { homePage } from './page/home-page.ts'
import type { PageSetting } from './page/layout.ts'
import type { HtmlEscapedString } from './page/markup.ts'

/** What routes of the admin listener find in their context. */
export type AdminEnvironment = { Bindings: HttpBindings }

export type RoutesOptions = {
  readonly conversations: Conversations
  readonly journal: Pick<Journal, 'events'>
  readonly models: {
    /** What is believed of models, the one used last first. */
    readonly list: () => readonly ModelCard[]
    /** Forgets all that is believed of a model; false if nothing is. */
    readonly forget: (id: string) => boolean
  }
  readonly page: Omit<PageSetting, 'now'> & {
    readonly hasPrices: boolean
    /** The base URL that clients are given. */
    readonly clientUrl: () => string
    readonly now: () => Date
  }
  readonly metrics: { readonly text: () => Promise<string>; readonly contentType: string }
  /** Deletes what is kept of a conversation. What it throws is answered. */
  readonly deleteConversation: (id: string) => Promise<void>
  /** Has a compaction made at the conversation's next request. */
  readonly compactConversation: (id: string) => Promise<void>
  readonly bodyLimits: ReceiveBodyOptions
  /** What would be done with a request body, as JSON. What it throws is answered. */
  readonly explain: (
    body: Buffer,
    asked: { readonly profile: string | null; readonly model: string | null },
  ) => Promise<string>
}

/** The page, what it loads, and what can be read and done besides. Events have their own file. */
export function adminRoutes(options: RoutesOptions): Hono<AdminEnvironment> {
  const { conversations, journal, models, page, metrics } = options
  const app = new Hono<AdminEnvironment>()
  const setting = (): PageSetting => ({ now: page.now(), version: page.version, store: page.store })

  app.get('/metrics', async (context) =>
    context.body(await metrics.text(), 200, { 'content-type': metrics.contentType }),
  )

  app.get('/', async (context) => {
    const [cards, events] = await Promise.all([
      conversations.list(),
      journal.events({ limit: EVENTS_SHOWN, before: null, conversation: null, type: null }),
    ])
    const shown = {
      totals: conversations.totals(),
      conversations: cards,
      unread: conversations.unread(),
      models: models.list(),
      events,
      hasPrices: page.hasPrices,
      clientUrl: page.clientUrl(),
    }
    return answerPage(context, homePage({ ...setting(), ...shown }))
  })
  app.get('/assets/:name', (context, next) => {
    const asset = pageAssets().get(context.req.path)
    return asset === undefined ? next() : context.body(asset.body, 200, { 'content-type': asset.type })
  })

  app.get('/conversations', async (context) =>
    context.json({ conversations: await conversations.list(), unread: conversations.unread() }),
  )
  app.get('/conversations/:id', async (context) => {
    const id = requireId(context.req.param('id'))
    const conversation = await conversations.detail(id)
    if (conversation === null) throw unknownConversation(id)
    // A browser that is shown a page, not a program.
    const wantsPage = (context.env.incoming.headers.accept ?? '').includes('text/html')
    return wantsPage
      ? answerPage(context, conversationPage({ ...setting(), conversation }))
      : context.json(conversation)
  })
  app.post('/conversations/:id/compact', async (context) => {
    refuseBody(context.env.incoming)
    const id = requireId(context.req.param('id'))
    if ((await conversations.detail(id)) === null) throw unknownConversation(id)
    await options.compactConversation(id)
    return context.json({ conversation: id, compact: 'at its next request' }, 202)
  })
  app.delete('/conversations/:id', async (context) => {
    refuseBody(context.env.incoming)
    await options.deleteConversation(context.req.param('id'))
    return context.body(null, 204)
  })

  app.get('/models', (context) => context.json({ models: models.list() }))
  app.delete('/models/:id', (context) => {
    refuseBody(context.env.incoming)
    if (models.forget(context.req.param('id'))) return context.body(null, 204)
    throw new FoldgateError(
      'unknown_model',
      'Nothing is believed here of a model with this id: it ended by itself, was forgotten, or no request has asked for that model since the start. GET /models lists the ids.',
      { param: 'id' },
    )
  })

  // What would be sent for a request, and why. Nothing is sent, and nothing recorded.
  app.post('/explain', async ({ req, env: { incoming, outgoing }, body: answer }) => {
    const body = await receiveBody({ incoming, outgoing, holder: operatorAt(outgoing) }, options.bodyLimits)
    try {
      if (body.decoded === null) {
        throw new FoldgateError(
          'malformed_request',
          'The body has a content coding that cannot be read: send it as plain JSON.',
        )
      }
      const profile = req.query('profile') ?? req.header('x-foldgate-profile') ?? null
      const text = await options.explain(body.decoded, { profile, model: req.query('model') ?? null })
      return answer(text, 200, { 'content-type': 'application/json' })
    } finally {
      body.release()
    }
  })
  return app
}

/** The id of a conversation. Throws `invalid_conversation_id` for anything else. */
export function requireId(id: string, param = 'id'): string {
  if (isConversationId(id)) return id
  throw new FoldgateError('invalid_conversation_id', noConversationId, { param })
}

// --- internal ---

const EVENTS_SHOWN = 50

/** Largest body of a request that wants none, in bytes: some clients send an empty object. */
const UNWANTED_BODY_BYTES_MAX = 1024

function answerPage(context: Context<AdminEnvironment>, markup: HtmlEscapedString) {
  context.header('content-security-policy', contentSecurityPolicy)
  return context.html(markup)
}

function refuseBody({ headers }: IncomingMessage): void {
  const isSmall = Number(headers['content-length'] ?? 0) <= UNWANTED_BODY_BYTES_MAX
  if (isSmall && headers['transfer-encoding'] === undefined) return
  throw new FoldgateError('body_too_large', 'This request takes no body: send it without one.')
}

function unknownConversation(id: string): FoldgateError {
  return new FoldgateError(
    'unknown_conversation',
    `Nothing is on record of a request of the conversation ${id}: it is too long ago, was deleted, or was never here.`,
    { param: 'id' },
  )
}

/** The operator shares with clients: a question is cut off if they have a right to its bytes. */
function operatorAt(outgoing: ServerResponse): Holder {
  return { name: 'operator', isAnswered: () => outgoing.headersSent, giveWay: () => outgoing.destroy() }
}
