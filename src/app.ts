import type { Server } from 'node:http'
import { openActivity } from './telemetry/activity.ts'
import type { Tracing } from './telemetry/tracing/tracing.ts'
import { openAdmin } from './admin/admin.ts'
import { openArchive } from './archive/archive.ts'
import type { Settings } from './config/settings.ts'
import { Lifecycle } from './server/drain.ts'
import { addressOf, type ListeningApp, openListeners, reachable } from './server/listeners.ts'
import { randomText } from './server/own-sign.ts'
import { bodyLimitsOf } from './server/receive-body.ts'
import { createRefusalLog } from './server/refusal-log.ts'
import { createServer } from './server/server.ts'
import type { Log } from './telemetry/log/log.ts'
import { createWarnings } from './telemetry/log/warnings.ts'
import { openModels } from './models/open-models.ts'
import type { Profile } from './profiles/schema.ts'
import { openRequests } from './pipeline/open-requests.ts'
import { digest } from './pipeline/read/read-chat.ts'
import { createStoreGuard } from './storage/store-guard.ts'
import type { Store } from './storage/store.ts'
import { summaryName } from './summaries/summary-record.ts'
import { createHeldKeyMarks } from './upstream/credential.ts'
import { openUpstreams } from './upstream/upstreams.ts'
import type { HttpProxies } from './upstream/pools.ts'

export type AppOptions = {
  readonly settings: Settings
  /** The profiles in force; they may change while the app runs. */
  readonly profiles: () => ReadonlyMap<string, Profile>
  readonly store: Store
  /** Why that one is in memory, and what to do; null if it is where the settings say. */
  readonly storeTrouble: string | null
  /** The installation's secret, under which scopes are told apart. */
  readonly secret: Buffer
  readonly proxies: HttpProxies
  readonly log: Log
  readonly nowMs: () => number
  readonly version: string
  /** Who tells OpenTelemetry, and is closed with the app; null where nobody asked for it. */
  readonly tracing: Tracing | null
  /** Whether the admin listener takes any free port where its own is taken. */
  readonly anyAdminPort: boolean
}

export type App = ListeningApp & {
  /** What has been counted, in Prometheus' text format. */
  readonly metrics: () => Promise<string>
  /** The secret by which it proves at `/healthz` that it is the one that has written it down. */
  readonly identity: string
}

/** Builds Foldgate: opens each part and joins them. */
export function createApp(options: AppOptions): App {
  const { settings, profiles, store, secret, log, nowMs, version, tracing } = options

  const warnings = createWarnings(log)
  const upstreams = openUpstreams(settings, options.proxies, warnings.keyRefused)
  const heldKeyMark = createHeldKeyMarks({
    secret,
    keyOf: (name) => settings.upstreams.get(name)?.key?.now()[0].reveal() ?? null,
  })
  const refusals = createRefusalLog(log, warnings)
  const activity = openActivity({
    settings,
    store,
    storeTrouble: options.storeTrouble,
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
  const lifecycle = new Lifecycle()
  const identity = randomText()
  const bodyLimits = bodyLimitsOf(settings.limits)
  const requests = openRequests({
    ...neighbours,
    settings,
    profiles,
    knowledge,
    archive,
    onSummary: ({ conversation, key, model, upstream }, written, milliseconds) => {
      const name = summaryName(key)
      const call = { conversation, name, model, upstream, milliseconds, endedAtMs: nowMs() }
      reports.summary(call, written)
    },
  })
  const server: Server = createServer({
    ...neighbours,
    settings,
    secret,
    bodyLimits,
    lifecycle,
    identity,
    handle: requests.handle,
    onTurnedAway: (error, incoming) => {
      reports.turnedAway(error)
      refusals.turnedAway(error, incoming)
    },
    onFailure: refusals.failed,
  })

  const adminServer = openAdmin({
    ...neighbours,
    settings,
    profiles,
    knowledge,
    requests,
    activity,
    archive,
    version,
    bodyLimits,
    clientUrl: () => `${addressOf(reachable(server, settings))}/v1`,
    onFailure: refusals.failed,
  })

  async function end(): Promise<void> {
    await requests.close()
    await knowledge.models.close()
    await activity.close()
    await knowledge.serverWindows.close()
    await upstreams.destroy()
    await store.close()
    // Last: it may take seconds, and what was broken off before is told, too.
    await tracing?.close()
  }
  return {
    ...openListeners({ settings, server, adminServer, anyAdminPort: options.anyAdminPort, lifecycle, end }),
    metrics: activity.metrics.text,
    identity,
  }
}
