import type { Server } from 'node:http'
import type { Activity } from '../activity/activity.ts'
import type { Settings } from '../config/settings.ts'
import { isLoopback } from '../config/web-address.ts'
import type { Archive } from '../archive/archive.ts'
import type { Log } from '../log/log.ts'
import type { ModelKnowledge } from '../models/open-models.ts'
import { findOwnWindow } from '../models/own-window.ts'
import { readSharedWindow } from '../models/shared-window.ts'
import { digest } from '../request/read/body-source.ts'
import type { Requests } from '../request/open-requests.ts'
import { readLimits } from '../request/read/read-chat.ts'
import type { StoreGuard } from '../stores/store-guard.ts'
import type { Store } from '../stores/store.ts'
import type { Upstreams } from '../upstream/upstreams.ts'
import { type AdminServerOptions, createAdminServer } from './admin-server.ts'
import { createExplain, type ExplainParts } from './explain/explain.ts'
import { explanationJson } from './explain/explanation.ts'
import { modelCard } from './models/model-cards.ts'
import { FoldgateError } from '../errors.ts'
import { isConversationId, noConversationId } from '../conversation/keys.ts'
import { within } from '../stores/within.ts'
import type { SummaryWriter } from '../summaries/summary-writer.ts'

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
 * Deletes what is kept of a conversation: its records and summaries in the store, the summary that is being written
 * for it, and its file in the archive. Throws `invalid_conversation_id`, `unknown_conversation` if there was nothing, or `store_failed`.
 *
 * What was made of its messages (`made-cache.ts`), their facts and their counts stay until they are driven out: they are
 * found only by the very bytes they were made of, are the same when they are made again, and no id leads to them. So do
 * the figures beside its id of what its prompts taught about an upstream, which are gone within an hour.
 *
 * @internal exported for tests
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

// --- internal ---

/** Of a model's name in the log. */
const MODEL_CHARS_MAX = 200

/** What takes longer has failed, in milliseconds. */
const DEADLINE_MS = 10_000
