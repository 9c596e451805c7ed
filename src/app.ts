import type { Server } from 'node:http'
import { openActivity } from './activity/activity.ts'
import type { Tracing } from './activity/tracing/tracing.ts'
import { openAdmin } from './admin/admin.ts'
import { createExplain } from './admin/explain/explain.ts'
import { explanationJson } from './admin/explain/explanation.ts'
import { openArchive } from './archive/archive.ts'
import type { Settings } from './config/settings.ts'
import type { FoldgateError } from './errors.ts'
import { createLifecycle } from './http/drain.ts'
import { addressOf, openListeners, type App, type ListenAddress } from './http/listeners.ts'
import { openHttp } from './http/open-http.ts'
import type { Log } from './log/log.ts'
import { createThrottle } from './log/throttle.ts'
import { createWarnings } from './log/warnings.ts'
import { openModels } from './models/open-models.ts'
import { findOwnWindow } from './models/own-window.ts'
import type { Profile } from './profiles/schema.ts'
import { openRequests } from './request/open-requests.ts'
import { digest } from './request/read/body-source.ts'
import { readLimits } from './request/read/read-limits.ts'
import { createStoreGuard } from './stores/store-guard.ts'
import type { Store } from './stores/store.ts'
import { summaryName } from './summaries/summary-keys.ts'
import { createHeldKeyMarks } from './upstream/held-key-marks.ts'
import { openUpstreams } from './upstream/open-upstreams.ts'
import type { HttpProxies } from './upstream/pools.ts'

export type AppOptions = {
  readonly settings: Settings
  /** The profiles in force; they may change while the app runs. */
  readonly profiles: () => ReadonlyMap<string, Profile>
  readonly store: Store
  /** The installation's secret, under which scopes are told apart. */
  readonly secret: Buffer
  readonly proxies: HttpProxies
  readonly log: Log
  readonly nowMs: () => number
  readonly version: string
  /** Who tells OpenTelemetry, and is closed with the app; null where nobody asked for it. */
  readonly tracing: Tracing | null
}

/** Builds Foldgate: opens each part and joins them. */
export function createApp(options: AppOptions): App {
  const { settings, profiles, store, secret, log, nowMs, version, tracing } = options

  const upstreams = openUpstreams(settings, options.proxies)
  const heldKeyMark = createHeldKeyMarks({
    secret,
    keyOf: (name) => settings.upstreams.get(name)?.key?.now()[0].reveal() ?? null,
  })
  const warnings = createWarnings(log)
  const onFailure = ({ code }: FoldgateError): void => log.warn('a request was refused or failed', { code })

  const activity = openActivity({
    prices: settings.prices,
    showsContent: settings.admin.show_content,
    store,
    log,
    version,
    nowMs,
    tracing,
  })
  const { failures, reports } = activity
  const guarded = createStoreGuard(failures)
  const neighbours = { upstreams, heldKeyMark, store, guarded, failures, reports, warnings, log, nowMs }

  const knowledge = openModels({ ...neighbours, digest, onLearnt: activity.learnt })
  const archive = settings.archive.dir === null ? null : openArchive(settings.archive.dir)
  const lifecycle = createLifecycle()
  const timesTurnedAway = createThrottle({ gapMs: TURNED_AWAY_GAP_MS, nowMs: () => performance.now() })
  const http = openHttp({
    ...neighbours,
    settings,
    secret,
    lifecycle,
    onTurnedAway: (error) => {
      activity.turnedAway(error)
      const times = timesTurnedAway(error.code)
      if (times === 1) onFailure(error)
      else if (times !== null) log.warn('requests were refused', { code: error.code, times })
    },
    onFailure,
  })
  const requests = openRequests({
    ...neighbours,
    settings,
    profiles,
    http,
    knowledge,
    archive,
    onSummary: ({ conversation, key, model, upstream }, written, milliseconds) => {
      const call = { conversation, name: summaryName(key), model, upstream, milliseconds }
      activity.summaryWritten(call, written)
    },
    onFailure,
  })
  const server: Server = http.serverFor(requests.handle)

  const { models, counts, serverWindows } = knowledge
  const explain = createExplain({
    profiles,
    findWindow: (profile, model) => findOwnWindow(profile, model, { upstreams, serverWindows }),
    usageInStreams: settings.usage.in_streams,
    limits: readLimits(settings.limits),
  })
  const adminServer = openAdmin({
    settings,
    store,
    activity,
    version,
    nowMs,
    summaryWriter: requests,
    compactWishes: requests.compactWishes,
    knownModels: {
      list: models.list,
      forget: (id) => {
        const key = models.forgetAll(id)
        if (key !== null) counts.forget(key)
        return key
      },
    },
    bodyLimits: http.bodyLimits,
    explain: async (body, asked) => explanationJson(await explain(body, asked)),
    clientUrl: () => clientUrlOf(server, settings),
    deleteArchived: async (conversation) => (await archive?.delete(conversation)) ?? false,
    onFailed: failures.note,
    onDeleted: (conversation, { records: count, hadFile }) =>
      log.info('a conversation was deleted', {
        conversation,
        records: count,
        ...(archive === null ? {} : { archived_files: hadFile ? 1 : 0 }),
      }),
    onForgotten: ({ upstream, model }) =>
      log.info('what was believed of a model was forgotten', {
        upstream,
        model: model.slice(0, MODEL_CHARS_MAX),
      }),
    onFailure,
  })

  async function end(): Promise<void> {
    await requests.close()
    await models.close()
    await activity.close()
    await serverWindows.close()
    await upstreams.destroy()
    await store.close()
    // Last: it may take seconds, and what was broken off before is told, too.
    await tracing?.close()
  }
  return openListeners({ settings, server, adminServer, lifecycle, end })
}

// --- internal ---

/** What clients are given as their base URL: where the server listens, under a name that reaches this machine. */
function clientUrlOf(server: Server, { host, port }: ListenAddress): string {
  const address = server.address()
  const isWildcard = host === '0.0.0.0' || host === '::'
  return `${addressOf({
    host: isWildcard ? 'localhost' : host,
    port: typeof address === 'object' && address !== null ? address.port : port,
  })}/v1`
}

/** Of a model's name in the log. */
const MODEL_CHARS_MAX = 200

/** How long the log only counts the same refusal, in milliseconds: whoever has no key may ask as often as he likes. */
const TURNED_AWAY_GAP_MS = 1_000
