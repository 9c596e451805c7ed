import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HttpBindings } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import type { Conversations } from '../telemetry/conversations/conversations.ts'
import { type EventFilter, isAskedFor, type Journal, type Signals } from '../telemetry/journal/journal.ts'
import { isConversationId, noConversationId } from '../conversation/keys.ts'
import { FoldgateError } from '../errors.ts'
import { receiveBody, type ReceiveBodyOptions } from '../server/receive-body.ts'
import type { Holder } from '../scheduling/fair-share.ts'
import type { ModelCard } from './models/model-cards.ts'
import { contentSecurityPolicy, pageAssets, type PageSetting } from './page/layout.ts'
import { conversationPage } from './page/conversation-page.ts'
import { homePage } from './page/home-page.ts'
import type { HtmlEscapedString } from './page/markup.ts'
import { setImmediate } from 'node:timers/promises'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { eventTypes, type JournalEvent } from '../telemetry/journal/rows.ts'

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

export type EventRoutesOptions = {
  readonly journal: Pick<Journal, 'events' | 'eventsAfter' | 'lastId'>
  readonly signals: Pick<Signals, 'on' | 'off'>
  /** How often others' events are looked for while somebody listens, in milliseconds. Default a second. */
  readonly pollMs?: number
}

/**
 * The journal, read page by page or as it is written, and the signs by which the page knows that it is out of date.
 * `headers`: those that each stream carries.
 */
export function eventRoutes(
  options: EventRoutesOptions,
  headers: Readonly<Record<string, string>>,
): Hono<AdminEnvironment> {
  const { journal, signals, pollMs = POLL_MS } = options
  const app = new Hono<AdminEnvironment>()
  const openStream = createEventStreams(headers)

  app.get('/events', async ({ req, env, json }) => {
    const [conversation, type] = [req.query('conversation'), req.query('type')]
    const filter = {
      conversation: conversation === undefined ? null : requireId(conversation, 'conversation'),
      type: type === undefined ? null : requireType(type),
    }
    if ((env.incoming.headers.accept ?? '').includes('text/event-stream')) {
      const lastSeen = env.incoming.headers['last-event-id']
      const from = typeof lastSeen === 'string' ? lastSeen : await journal.lastId()
      follow(openStream(env.outgoing), from, filter)
      return RESPONSE_ALREADY_SENT
    }
    const limit = limitIn(req.query('limit'))
    const events = await journal.events({ ...filter, limit, before: req.query('before') ?? null })
    // The page after this one: `before` it.
    return json({ events, before: events.length < limit ? null : (events.at(-1)?.id ?? null) })
  })

  app.get('/changes', (context) => {
    const stream = openStream(context.env.outgoing)
    const tell = (conversation: string | null): void => stream.send({ data: { conversation } })
    signals.on('change', tell)
    stream.onEnd(() => void signals.off('change', tell))
    return RESPONSE_ALREADY_SENT
  })
  return app

  /** Sends what is written from now on, by this process at once and by others a little later. */
  function follow(stream: EventStream, from: string | null, filter: EventFilter): void {
    let seen = from
    let isReading = false
    async function sendNew(): Promise<void> {
      if (isReading) return
      isReading = true
      try {
        for (let isMore = true; isMore;) {
          const next = await journal.eventsAfter(seen)
          for (const event of next.events) {
            if (isAskedFor(event, filter)) stream.send({ id: event.id, data: event })
          }
          seen = next.upTo
          isMore = next.isMore
          // What was written gets on its way, or it would seem unread.
          await setImmediate()
        }
      } finally {
        isReading = false
      }
    }
    const look = (): void => void sendNew()
    const timer = setInterval(look, pollMs)
    signals.on('written', look)
    stream.onEnd(() => {
      clearInterval(timer)
      signals.off('written', look)
    })
    void sendNew()
  }
}

/** One client that is told of events as they come (server-sent events, https://html.spec.whatwg.org/#server-sent-events). */
export type EventStream = ReturnType<ReturnType<typeof createEventStreams>>

/** Opens streams with these headers, at most so many at a time. The returned function throws `overloaded`. */
export function createEventStreams(headers: Readonly<Record<string, string>>) {
  let open = 0

  return function openEventStream(outgoing: ServerResponse) {
    if (open >= STREAMS_MAX) {
      throw new FoldgateError(
        'overloaded',
        `${STREAMS_MAX} pages or programs listen to this Foldgate already. Close one of them.`,
      )
    }
    open += 1
    const heartbeat = setInterval(() => write(':\n\n'), HEARTBEAT_MS)
    heartbeat.unref()
    onEnd(() => {
      open -= 1
      clearInterval(heartbeat)
    })
    // Its end is learnt from the `close`; the event only must not stay unheard.
    outgoing.on('error', () => {})
    outgoing.writeHead(200, {
      ...headers,
      'content-type': 'text/event-stream; charset=utf-8',
      'x-accel-buffering': 'no',
    })
    write(`retry: ${RETRY_MS}\n\n`)
    // A client that asks for headers only has them, and nothing will come after them.
    if (outgoing.req.method === 'HEAD') outgoing.end()

    function write(text: string): void {
      if (outgoing.destroyed || outgoing.writableEnded) return
      outgoing.write(text)
      // What a client does not read is not kept without a bound.
      if (outgoing.writableLength > UNREAD_BYTES_MAX) outgoing.destroy()
    }

    // One that left before, while something was looked up for it, closes no second time.
    function onEnd(then: () => void): void {
      if (outgoing.destroyed) then()
      else outgoing.once('close', then)
    }

    return {
      send: ({ id, data }: { readonly id?: string; readonly data: unknown }) => {
        const line = JSON.stringify(data)
        write(`${id === undefined ? '' : `id: ${id}\n`}data: ${line}\n\n`)
      },
      /** Calls `then` once the client is gone; at once where it is. */
      onEnd,
    }
  }
}

// --- internal ---

/** The id of a conversation. Throws `invalid_conversation_id` for anything else. */
function requireId(id: string, param = 'id'): string {
  if (isConversationId(id)) return id
  throw new FoldgateError('invalid_conversation_id', noConversationId, { param })
}

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

const POLL_MS = 1_000
const LIMIT_DEFAULT = 100
const LIMIT_MAX = 1_000

function requireType(text: string): JournalEvent['type'] {
  const type = eventTypes.find((known) => known === text)
  if (type !== undefined) return type
  const known = eventTypes.join(', ')
  throw new FoldgateError('invalid_parameter', `There are no events of this type: ask for one of ${known}.`, {
    param: 'type',
  })
}

function limitIn(text: string | undefined): number {
  const limit = text === undefined ? LIMIT_DEFAULT : Number(text)
  if (Number.isInteger(limit) && limit >= 1 && limit <= LIMIT_MAX) return limit
  throw new FoldgateError('invalid_parameter', `limit has to be a whole number from 1 to ${LIMIT_MAX}.`, {
    param: 'limit',
  })
}

const STREAMS_MAX = 100

/** Shorter than the idle times of common proxies, in milliseconds. */
const HEARTBEAT_MS = 15_000

/** How long a client waits before it comes back, in milliseconds. */
const RETRY_MS = 2_000

const UNREAD_BYTES_MAX = 1024 * 1024
