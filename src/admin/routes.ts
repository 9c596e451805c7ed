import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HttpBindings } from '@hono/node-server'
import { type Context, Hono, type HonoRequest } from 'hono'
import type { Archive } from '../archive/archive.ts'
import type { Settings } from '../config/settings.ts'
import { isConversationId, noConversationId } from '../conversation/prefix-keys.ts'
import { FoldgateError } from '../errors.ts'
import type { ModelKnowledge } from '../models/open-models.ts'
import { findOwnWindow } from '../models/own-window.ts'
import { readSharedWindow, type SharedModel } from '../models/models.ts'
import type { Requests } from '../pipeline/open-requests.ts'
import { digest } from '../pipeline/read/read-chat.ts'
import type { Holder } from '../scheduling/fair-share.ts'
import { receiveBody, type ReceiveBodyOptions } from '../server/receive-body.ts'
import type { StoreGuard } from '../storage/store-guard.ts'
import type { Store } from '../storage/store.ts'
import type { Activity } from '../telemetry/activity.ts'
import type { Log } from '../telemetry/log/log.ts'
import type { Upstreams } from '../upstream/upstreams.ts'
import { deleteConversation } from './delete-conversation.ts'
import { createExplain, type ExplainParts, explanationJson } from './explain/explanation.ts'
import { modelCard } from './model-cards.ts'
import { conversationPage } from './page/conversation-page.ts'
import { homePage } from './page/home-page.ts'
import { savingsCsv, savingsKinds, savingsPage } from './page/savings-page.ts'
import { contentSecurityPolicy, pageAssets, type PageSetting } from './page/page-frame.ts'
import type { HtmlEscapedString } from './page/markup.ts'

/** What routes of the admin listener find in their context. */
export type AdminEnvironment = { Bindings: HttpBindings }

export type AdminParts = {
  readonly settings: Settings
  readonly profiles: ExplainParts['profiles']
  readonly store: Store
  readonly guarded: StoreGuard
  readonly upstreams: Upstreams
  readonly knowledge: ModelKnowledge
  readonly requests: Requests
  readonly activity: Activity
  /** Null if what is folded is kept nowhere. */
  readonly archive: Archive | null
  readonly log: Log
  readonly version: string
  readonly nowMs: () => number
  readonly bodyLimits: ReceiveBodyOptions
  /** The base URL that clients are given. */
  readonly clientUrl: () => string
}

/** The page, what it loads, and what can be read and done besides. Events have their own file. */
export function adminRoutes(parts: AdminParts): Hono<AdminEnvironment> {
  const { settings, store, knowledge, requests, version, nowMs } = parts
  const { conversations, journal, metrics, compactRequested, status } = parts.activity
  const windowParts = {
    upstreams: parts.upstreams,
    serverWindows: knowledge.serverWindows,
    learntOf: (of: SharedModel) => parts.guarded({}, () => readSharedWindow(store, of, digest)),
    nowMs,
  }
  const explain = createExplain({
    profiles: parts.profiles,
    findWindow: (profile, model, requestTokens) => findOwnWindow(profile, model, windowParts, requestTokens),
    settings,
  })
  const own = { version, store: store.name }
  const setting = (): PageSetting => ({ ...own, now: new Date(nowMs()), status: status() })
  const modelCards = () => knowledge.models.list().map(modelCard)
  const app = new Hono<AdminEnvironment>()

  app.get('/metrics', async (context) =>
    context.body(await metrics.text(), 200, { 'content-type': metrics.contentType }),
  )

  app.get('/', async (context) => {
    const isProgram = (context.req.header('accept') ?? '').includes('application/json')
    if (isProgram && !wantsPage(context.req))
      return context.json({ ...setting(), clients: parts.clientUrl() })
    const [cards, events] = await Promise.all([
      conversations.list(),
      journal.events({ limit: EVENTS_SHOWN, before: null, conversation: null, type: null }),
    ])
    const shown = {
      totals: conversations.totals(),
      conversations: cards,
      query: context.req.query(),
      unread: conversations.unread(),
      models: modelCards(),
      events,
      hasPrices: Object.keys(settings.prices).length > 0,
      clientUrl: parts.clientUrl(),
    }
    return answerPage(context, homePage({ ...setting(), ...shown }))
  })
  app.get('/assets/:name', (context, next) => {
    const asset = pageAssets().get(context.req.path)
    return asset === undefined ? next() : context.body(asset.body, 200, { 'content-type': asset.type })
  })

  app.get('/savings', async (context) => {
    const days = daysIn(context.req)
    const by = savingsKinds.find((kind) => kind === context.req.query('by')) ?? 'day'
    const savings = await conversations.savings(days, new Date(nowMs()))
    if (!wantsPage(context.req)) return context.json({ days, savings })
    const hasPrices = Object.keys(settings.prices).length > 0
    return answerPage(context, savingsPage({ ...setting(), savings, by, days, hasPrices }))
  })
  app.get('/savings.csv', async (context) => {
    const savings = await conversations.savings(daysIn(context.req), new Date(nowMs()))
    return context.body(savingsCsv(savings), 200, { 'content-type': 'text/csv; charset=utf-8' })
  })

  app.get('/conversations', async (context) =>
    context.json({ conversations: await conversations.list(), unread: conversations.unread() }),
  )
  app.get('/conversations/:id', async (context) => {
    const id = requireId(context.req.param('id'))
    const conversation = await conversations.detail(id)
    if (conversation === null) throw unknownConversation(id)
    return wantsPage(context.req)
      ? answerPage(context, conversationPage({ ...setting(), conversation }))
      : context.json(conversation)
  })
  app.post('/conversations/:id/compact', async (context) => {
    refuseBody(context.env.incoming)
    const id = requireId(context.req.param('id'))
    if ((await conversations.detail(id)) === null) throw unknownConversation(id)
    await requests.requestedCompactions.ask(id)
    compactRequested(id)
    return context.json({ conversation: id, compact: 'at its next request' }, 202)
  })
  app.delete('/conversations/:id', async (context) => {
    refuseBody(context.env.incoming)
    await deleteConversation(context.req.param('id'), parts)
    return context.body(null, 204)
  })

  app.get('/models', (context) => context.json({ models: modelCards() }))
  app.delete('/models/:id', (context) => {
    refuseBody(context.env.incoming)
    forgetModel(context.req.param('id'), parts)
    return context.body(null, 204)
  })

  // What would be sent for a request, and why. Nothing is sent, and nothing recorded.
  app.post('/explain', async ({ req, env: { incoming, outgoing }, body: answer }) => {
    const body = await receiveBody({ incoming, outgoing, holder: operatorAt(outgoing) }, parts.bodyLimits)
    try {
      if (body.decoded === null) {
        throw new FoldgateError(
          'malformed_request',
          'The body has a content coding that cannot be read: send it as plain JSON.',
        )
      }
      const profile = req.query('profile') ?? req.header('x-foldgate-profile') ?? null
      const told = await explain(body.decoded, { profile, model: req.query('model') ?? null })
      return answer(explanationJson(told), 200, { 'content-type': 'application/json' })
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

/** A whole number from the address, from 1 to `max`. Throws `invalid_parameter` for anything else. */
export function wholeIn(request: HonoRequest, param: string, unsaid: number, max: number): number {
  const value = Number(request.query(param) ?? unsaid)
  if (Number.isInteger(value) && value >= 1 && value <= max) return value
  const message = `${param} has to be a whole number from 1 to ${max}.`
  throw new FoldgateError('invalid_parameter', message, { param })
}

// --- internal ---

const EVENTS_SHOWN = 50

/** Largest body of a request that wants none, in bytes: some clients send an empty object. */
const UNWANTED_BODY_BYTES_MAX = 1024

/** Of a model's name in the log. */
const MODEL_CHARS_MAX = 200

/** How many days are looked at, a year at the most. */
const daysIn = (request: HonoRequest): number => wholeIn(request, 'days', 30, 366)

/** Forgets all that is believed of a model. Throws `unknown_model` if nothing is. */
function forgetModel(id: string, { knowledge, activity, log }: AdminParts): void {
  const key = knowledge.models.forgetAll(id)
  if (key === null)
    throw new FoldgateError(
      'unknown_model',
      'Nothing is believed here of a model with this id: it ended by itself, was forgotten, or no request has asked for that model since the start. GET /models lists the ids.',
      { param: 'id' },
    )
  knowledge.counts.forget(key)
  const { upstream, model } = key
  log.info('what was believed of a model was forgotten', {
    upstream,
    model: model.slice(0, MODEL_CHARS_MAX),
  })
  activity.signals.emit('change', null)
}

/** A browser that is shown a page, not a program. */
function wantsPage(request: HonoRequest): boolean {
  return (request.header('accept') ?? '').includes('text/html')
}

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
