import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Activity } from '../telemetry/activity.ts'
import type { Settings } from '../config/settings.ts'
import { isLoopback } from '../config/web-address.ts'
import type { Archive } from '../archive/archive.ts'
import type { Log } from '../telemetry/log/log.ts'
import type { ModelKnowledge } from '../models/open-models.ts'
import { findOwnWindow } from '../models/own-window.ts'
import { readSharedWindow } from '../models/models.ts'
import { digest } from '../pipeline/read/body-source.ts'
import type { Requests } from '../pipeline/open-requests.ts'
import { readLimits } from '../pipeline/read/read-chat.ts'
import type { StoreGuard } from '../storage/store-guard.ts'
import type { Store } from '../storage/store.ts'
import type { Upstreams } from '../upstream/upstreams.ts'
import { createExplain, type ExplainParts } from './explain/explain.ts'
import { explanationJson } from './explain/explanation.ts'
import { modelCard } from './models/model-cards.ts'
import { answerable, ClientGoneError, errorBody, FoldgateError, httpStatusOf } from '../errors.ts'
import { isConversationId, noConversationId } from '../conversation/keys.ts'
import { within } from '../storage/within.ts'
import type { SummaryWriter } from '../summaries/summary-writer.ts'
import { getRequestListener } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { Hono } from 'hono'
import { answerError } from '../server/answer-error.ts'
import { isSameSecret, refuseForeignHost, refuseForeignPages } from '../server/guard.ts'
import { serverAround } from '../server/node-server.ts'
import { parseTarget } from '../upstream/target.ts'
import {
  type AdminEnvironment,
  adminRoutes,
  eventRoutes,
  type EventRoutesOptions,
  type RoutesOptions,
} from './routes.ts'

export type AdminOptions = Pick<AdminServerOptions, 'bodyLimits' | 'onFailure'> &
  Pick<ExplainParts, 'profiles'> & {
    readonly settings: Settings
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
    /** The base URL that clients are given. */
    readonly clientUrl: () => string
  }

/** Builds the admin listener: what the operator sees of Foldgate, and what can be done there. */
export function openAdmin(options: AdminOptions): Server {
  const { settings, store, activity, requests, archive, log, version, nowMs } = options
  const { models, counts, serverWindows } = options.knowledge
  const { admin } = settings
  const explain = createExplain({
    profiles: options.profiles,
    findWindow: (profile, model) =>
      findOwnWindow(profile, model, {
        upstreams: options.upstreams,
        serverWindows,
        learntOf: (of) => options.guarded({}, () => readSharedWindow(store, of, digest)),
        nowMs,
      }),
    isAnthropic: (upstream) => options.upstreams.addressOf(upstream).isAnthropic,
    usageInStreams: settings.usage.in_streams,
    limits: readLimits(settings.limits),
  })
  return createAdminServer({
    ...options,
    headersMs: settings.limits.headers_s * 1000,
    isLoopback: isLoopback(admin.host),
    hosts: settings.hosts,
    token: admin.token?.reveal() ?? null,
    metrics: activity.metrics,
    hasOpenMetrics: admin.metrics === 'open',
    conversations: activity.conversations,
    journal: activity.journal,
    signals: activity.signals,
    models: {
      list: () => models.list().map(modelCard),
      forget: (id) => {
        const key = models.forgetAll(id)
        if (key === null) return false
        counts.forget(key)
        const { upstream, model } = key
        log.info('what was believed of a model was forgotten', {
          upstream,
          model: model.slice(0, MODEL_CHARS_MAX),
        })
        activity.signals.emit('change', null)
        return true
      },
    },
    explain: async (body, asked) => explanationJson(await explain(body, asked)),
    page: {
      version,
      store: store.name,
      hasPrices: Object.keys(settings.prices).length > 0,
      clientUrl: options.clientUrl,
      now: () => new Date(nowMs()),
    },
    compactConversation: async (id) => {
      await requests.requestedCompactions.ask(id)
      activity.compactRequested(id)
    },
    deleteConversation: createDeleteConversation({
      store,
      summaryWriter: requests,
      forget: activity.forget,
      deleteArchived: async (id) => (await archive?.delete(id)) ?? false,
      onFailed: activity.failures.note,
      onDeleted: (id, { records, hadFile }) => {
        log.info('a conversation was deleted', {
          conversation: id,
          records,
          ...(archive === null ? {} : { archived_files: hadFile ? 1 : 0 }),
        })
        activity.signals.emit('change', id)
      },
    }),
  })
}

type DeleteConversationParts = {
  readonly store: Pick<Store, 'name' | 'deleteGroup'>
  readonly summaryWriter: Pick<SummaryWriter, 'forget'>
  /** Forgets what this process has kept of its requests; resolves with whether there was anything. Must not reject. */
  readonly forget: (conversation: string) => Promise<boolean>
  /** Deletes its file in the archive; resolves with whether there was one. */
  readonly deleteArchived: (conversation: string) => Promise<boolean>
  /** The store or the archive failed. Must not throw. */
  readonly onFailed: (part: 'store' | 'archive', error: unknown) => void
  /** Something was deleted. Must not throw. */
  readonly onDeleted: (conversation: string, deleted: Deleted) => void
  /** How long the store may take, and then the archive, in milliseconds. Default 10,000. */
  readonly deadlineMs?: number
}

/** What was deleted of a conversation in the store and the archive. */
type Deleted = { readonly records: number; readonly hadFile: boolean }

/**
 * @internal exported for tests. Deletes what is kept of a conversation: its records and summaries in the store, the summary
 * that is being written for it, and its file in the archive. Throws `invalid_conversation_id`, `unknown_conversation` if there
 * was nothing, or `store_failed`.
 *
 * What was made of its messages (`made-cache.ts`), their facts and their counts stay until they are driven out: they are found
 * only by the very bytes they were made of, are the same when they are made again, and no id leads to them. So do the figures
 * beside its id of what its prompts taught about an upstream, which are gone within an hour.
 */
export function createDeleteConversation(parts: DeleteConversationParts): (id: string) => Promise<void> {
  const { store, summaryWriter, deadlineMs = DEADLINE_MS } = parts

  async function deleted(id: string): Promise<{ records: number; wasHeld: boolean }> {
    // First, so that nothing is written behind the deletion.
    const wasWritten = await summaryWriter.forget(id)
    const wasHeld = (await parts.forget(id)) || wasWritten
    return { wasHeld, records: await store.deleteGroup(id) }
  }

  return async function deleteConversation(id) {
    if (!isConversationId(id)) {
      throw new FoldgateError('invalid_conversation_id', noConversationId, { param: 'id' })
    }
    const { records, wasHeld } = await attempt(
      'store',
      deleted(id),
      `${store.name} failed in the middle of it: send the request again. Until it is answered with 204 or 404, records of the conversation may be there.`,
    )
    const hadFile = await attempt(
      'archive',
      parts.deleteArchived(id),
      `The records of the conversation ${id} are deleted, its file in archive.dir may not be: see to the folder, and send the request again.`,
    )
    if (records === 0 && !wasHeld && !hadFile) {
      const message = `Nothing to delete: ${store.name} has no records of the conversation ${id}.`
      throw new FoldgateError('unknown_conversation', message, { param: 'id' })
    }
    parts.onDeleted(id, { records, hadFile })
  }

  /** What comes of the work; throws `store_failed` with these words where it fails or takes too long. */
  async function attempt<Result>(
    part: 'store' | 'archive',
    work: Promise<Result>,
    failure: string,
  ): Promise<Result> {
    try {
      return await within(deadlineMs, work)
    } catch (error) {
      parts.onFailed(part, error)
      throw new FoldgateError('store_failed', failure, { cause: error })
    }
  }
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

type AdminServerOptions = RoutesOptions &
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
function createAdminServer(options: AdminServerOptions): Server {
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

/** Of a model's name in the log. */
const MODEL_CHARS_MAX = 200

/** What takes longer has failed, in milliseconds. */
const DEADLINE_MS = 10_000

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
    const isRead = incoming.method === 'GET' || incoming.method === 'HEAD'
    const isOpen = options.hasOpenMetrics && context.req.path === '/metrics' && isRead
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
