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
import { readLimits } from '../request/read/read-limits.ts'
import type { StoreGuard } from '../stores/store-guard.ts'
import type { Store } from '../stores/store.ts'
import type { Upstreams } from '../upstream/upstreams.ts'
import { createAdminServer, type AdminServerOptions } from './admin-server.ts'
import { createDeleteConversation } from './delete-conversation.ts'
import { createExplain, type ExplainParts } from './explain/explain.ts'
import { explanationJson } from './explain/explanation.ts'
import { modelCard } from './models/model-cards.ts'

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

// --- internal ---

/** Of a model's name in the log. */
const MODEL_CHARS_MAX = 200
