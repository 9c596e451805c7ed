import { randomUUID } from 'node:crypto'
import type { Server } from 'node:http'
import { createAdminServer, type AdminServerOptions } from './admin-server.ts'
import { createBookkeeping, type Bookkeeping } from '../activity/bookkeeping.ts'
import { createChanges } from '../activity/changes.ts'
import { createBoard } from '../activity/conversations/board.ts'
import { createConversations } from '../activity/conversations/conversations.ts'
import { createHeldContent } from '../activity/conversations/held-content.ts'
import { createTotalsKeeper } from '../activity/conversations/totals-keeper.ts'
import { createDeleteConversation, type DeleteConversationParts } from './delete-conversation.ts'
import { createJournal } from '../activity/journal/journal.ts'
import { createTail } from '../activity/journal/tail.ts'
import { createMetrics, type Metrics } from '../activity/metrics/metrics.ts'
import { modelCard } from './models/model-cards.ts'
import { createPriceList } from '../activity/prices/price-list.ts'
import type { Settings } from '../config/settings.ts'
import { isLoopback } from '../config/web-address.ts'
import type { KnownModel } from '../models/models.ts'
import type { CompactWishes } from '../request/records/compact-wishes.ts'
import type { StoreGuard } from '../stores/store-guard.ts'
import type { Reports } from '../activity/request-report.ts'
import type { Store } from '../stores/store.ts'
import type { SummaryWriter } from '../summaries/summary-writer.ts'
import type { ModelKey } from '../models/model-key.ts'

export type OversightOptions = {
  readonly settings: Pick<Settings, 'admin' | 'hosts' | 'limits' | 'prices'>
  readonly store: Store
  readonly guarded: StoreGuard
  readonly version: string
  readonly nowMs: () => number
}

/** What the operator sees of Foldgate, and what can be done there. */
export type Oversight = {
  readonly metrics: Metrics
  readonly bookkeeping: Bookkeeping
  /** Who is told of every request: the metrics and the books. */
  readonly reports: readonly Reports[]
  readonly openServer: (parts: AdminServerParts) => Server
  readonly close: () => Promise<void>
}

export type AdminServerParts = Pick<AdminServerOptions, 'bodyLimits' | 'explain'> & {
  readonly summaryWriter: Pick<SummaryWriter, 'forget'>
  readonly compactWishes: Pick<CompactWishes, 'ask'>
  readonly knownModels: {
    readonly list: () => readonly KnownModel[]
    /** Forgets all that is believed of a model; its key, or null where nothing is. */
    readonly forget: (id: string) => ModelKey | null
  }
  /** The operator had all forgotten that is believed of a model. Must not throw. */
  readonly onForgotten: (key: ModelKey) => void
  readonly deleteArchived: DeleteConversationParts['deleteArchived']
  readonly onFailed: DeleteConversationParts['onFailed']
  readonly onDeleted: DeleteConversationParts['onDeleted']
  readonly onFailure: AdminServerOptions['onFailure']
  /** The base URL that clients are given. */
  readonly clientUrl: () => string
}

/** Builds everything that only watches: the metrics, the books, and the listener that shows them. */
export function openOversight(options: OversightOptions): Oversight {
  const { settings, store, guarded, version, nowMs } = options
  const { admin } = settings
  // Rows of several processes lie in one store: each passes over its own.
  const process = randomUUID()
  const metrics = createMetrics({ version })
  const journal = createJournal({ store, guarded })
  const board = createBoard()
  const held = createHeldContent({ showsContent: admin.show_content })
  const totals = createTotalsKeeper({ process, writeDown: journal.writeTotals })
  const changes = createChanges()
  const prices = createPriceList(settings.prices)
  const bookkeeping = createBookkeeping({ journal, board, held, totals, prices, changes, process, nowMs })
  const tail = createTail({
    store,
    guarded,
    process,
    onUsage: (row) => board.add(row, false),
    onTotals: totals.addWritten,
  })
  const conversations = createConversations({ board, held, totals, journal, tail })

  /** Those of others are looked for while somebody looks at the page. */
  const polling = setInterval(() => {
    if (changes.listeners() === 0) return
    void tail.catchUp().then((isNews) => {
      if (isNews) changes.tell(null)
    })
  }, POLL_MS)
  polling.unref()

  return {
    metrics,
    bookkeeping,
    reports: [metrics.reports, bookkeeping.reports],
    openServer: ({ summaryWriter, compactWishes, knownModels, deleteArchived, clientUrl, ...parts }) =>
      createAdminServer({
        ...parts,
        headersMs: settings.limits.headers_s * 1000,
        isLoopback: isLoopback(admin.host),
        hosts: settings.hosts,
        token: admin.token?.reveal() ?? null,
        metrics: {
          text: metrics.text,
          contentType: metrics.contentType,
          isOpen: admin.metrics === 'open',
        },
        conversations,
        journal,
        changes,
        models: {
          list: () => knownModels.list().map(modelCard),
          forget: (id) => {
            const key = knownModels.forget(id)
            if (key === null) return false
            parts.onForgotten(key)
            changes.tell(null)
            return true
          },
        },
        page: {
          version,
          store: store.name,
          hasPrices: !prices.isEmpty,
          clientUrl,
          now: () => new Date(nowMs()),
        },
        compactConversation: async (id) => {
          await compactWishes.ask(id)
          bookkeeping.compactRequested(id)
        },
        deleteConversation: createDeleteConversation({
          store,
          summaryWriter,
          forget: async (id) => {
            journal.forget(id)
            // What is on its way to the store is there before it is deleted.
            await journal.flush()
            held.forget(id)
            return board.forget(id)
          },
          deleteArchived,
          onFailed: parts.onFailed,
          onDeleted: (id, deleted) => {
            parts.onDeleted(id, deleted)
            changes.tell(id)
          },
        }),
      }),
    close: async () => {
      clearInterval(polling)
      totals.close()
      metrics.close()
      await journal.close()
    },
  }
}

// --- internal ---

/** How often rows of others are looked for while somebody looks, in milliseconds. */
const POLL_MS = 1_000
