import type { Server } from 'node:http'
import type { Activity } from '../activity/activity.ts'
import type { Settings } from '../config/settings.ts'
import { isLoopback } from '../config/web-address.ts'
import type { ModelKey } from '../models/model-key.ts'
import type { KnownModel } from '../models/models.ts'
import type { CompactWishes } from '../request/records/compact-wishes.ts'
import type { Store } from '../stores/store.ts'
import type { SummaryWriter } from '../summaries/summary-writer.ts'
import { createAdminServer, type AdminServerOptions } from './admin-server.ts'
import { createDeleteConversation, type DeleteConversationParts } from './delete-conversation.ts'
import { modelCard } from './models/model-cards.ts'

export type AdminOptions = Pick<AdminServerOptions, 'bodyLimits' | 'explain' | 'onFailure'> &
  Pick<DeleteConversationParts, 'deleteArchived' | 'onFailed' | 'onDeleted'> & {
    readonly settings: Pick<Settings, 'admin' | 'hosts' | 'limits' | 'prices'>
    readonly store: Store
    readonly activity: Activity
    readonly summaryWriter: Pick<SummaryWriter, 'forget'>
    readonly compactWishes: Pick<CompactWishes, 'ask'>
    readonly knownModels: {
      readonly list: () => readonly KnownModel[]
      readonly forget: (id: string) => ModelKey | null
    }
    /** The operator had everything forgotten that is believed of a model. Must not throw. */
    readonly onForgotten: (key: ModelKey) => void
    readonly version: string
    readonly nowMs: () => number
    /** The base URL that clients are given. */
    readonly clientUrl: () => string
  }

/** Builds the admin listener: what the operator sees of Foldgate, and what can be done there. */
export function openAdmin(options: AdminOptions): Server {
  const { settings, store, activity, summaryWriter, compactWishes, knownModels, version, nowMs } = options
  const { admin } = settings
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
      list: () => knownModels.list().map(modelCard),
      forget: (id) => {
        const key = knownModels.forget(id)
        if (key === null) return false
        options.onForgotten(key)
        activity.signals.emit('change', null)
        return true
      },
    },
    page: {
      version,
      store: store.name,
      hasPrices: Object.keys(settings.prices).length > 0,
      clientUrl: options.clientUrl,
      now: () => new Date(nowMs()),
    },
    compactConversation: async (id) => {
      await compactWishes.ask(id)
      activity.compactRequested(id)
    },
    deleteConversation: createDeleteConversation({
      store,
      summaryWriter,
      forget: activity.forget,
      deleteArchived: options.deleteArchived,
      onFailed: options.onFailed,
      onDeleted: (id, deleted) => {
        options.onDeleted(id, deleted)
        activity.signals.emit('change', id)
      },
    }),
  })
}
