import type { Server } from 'node:http'
import { openArchive } from './archive/archive.ts'
import { createMadeCache } from './compaction/made-cache.ts'
import { createExplain } from './admin/explain/explain.ts'
import { explanationJson } from './admin/explain/explanation.ts'
import type { Settings } from './config/settings.ts'
import { isLoopback } from './config/web-address.ts'
import { createFactsReader } from './dialects/chat-completions/facts.ts'
import type { FoldgateError } from './errors.ts'
import { createFailureLog } from './activity/failure-log.ts'
import { addressOf, openListeners, type App, type ListenAddress } from './http/listeners.ts'
import { openUpstreams } from './upstream/open-upstreams.ts'
import { openOversight } from './admin/oversight.ts'
import type { Log } from './log/log.ts'
import { createAcceptedCredentials } from './models/accepted-credentials.ts'
import { createCounts } from './models/counts/counts.ts'
import { createLearning } from './models/learn.ts'
import { createModels } from './models/models.ts'
import { createWindows } from './models/windows.ts'
import type { Profile } from './profiles/schema.ts'
import { digest } from './request/read/body-source.ts'
import type { ClientRights } from './http/confinement.ts'
import { createLastBodies } from './request/read/last-bodies.ts'
import { createArchiving } from './archive/archiving.ts'
import { createLifecycle } from './http/drain.ts'
import { createFailures } from './activity/failures.ts'
import { createHeavyWork } from './scheduling/heavy-work.ts'
import { createHandle } from './request/handle.ts'
import { createByteBudget } from './http/byte-budget.ts'
import { createMeasure } from './request/measure/measure.ts'
import { createCompactWishes } from './request/records/compact-wishes.ts'
import { createRecords } from './request/records/records.ts'
import { createStoreGuard } from './stores/store-guard.ts'
import { createRelay } from './http/relay.ts'
import { readLimits } from './request/read/read-limits.ts'
import { createScopes } from './http/scope.ts'
import { createServer } from './http/server.ts'
import { createAheadRecords } from './summaries/ahead-records.ts'
import { createRecallOffers } from './proxy/recall/recall-offer.ts'
import { createRateLimits } from './summaries/rate-limits.ts'
import { createSpentTokens } from './summaries/spent-tokens.ts'
import { createSummarizer } from './request/summaries/summarizer.ts'
import { harmlessReports } from './activity/harmless-reports.ts'
import { joinedReports } from './activity/joined-reports.ts'
import { findOwnWindow, hostOf } from './models/own-window.ts'
import { createWindowFinder } from './request/measure/window-finder.ts'
import type { Store } from './stores/store.ts'
import { createSummaryWriter } from './summaries/summary-writer.ts'
import { createParameterMemory } from './summaries/parameter-memory.ts'
import { tellSummary } from './summaries/tell-summary.ts'
import { createHeapTidying } from './heap/tidy-heap.ts'
import type { Tracing } from './activity/tracing/open-tracing.ts'
import type { HttpProxies } from './upstream/pools.ts'
import { createHeldKeyMarks } from './upstream/held-key-marks.ts'
import { createServerWindows } from './models/discovery/server-windows.ts'
import { createThrottle } from './log/throttle.ts'
import { createWarnings } from './log/warnings.ts'

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

/** Builds Foldgate: every part is made here and nowhere else. */
export function createApp(options: AppOptions): App {
  const { settings, log, store, nowMs } = options
  const { limits } = settings

  const upstreams = openUpstreams(settings, options.proxies)
  const heldKeyMark = createHeldKeyMarks({
    secret: options.secret,
    keyOf: (name) => settings.upstreams.get(name)?.key?.now()[0].reveal() ?? null,
  })

  const warnings = createWarnings(log)
  const failureLog = createFailureLog(log, undefined, (facts, times) =>
    oversight.bookkeeping.failed(facts, times),
  )
  const failures = createFailures((part, error) => {
    failureLog(part, error)
    oversight.metrics.failed(part)
  })
  const guarded = createStoreGuard(failures)
  const { version } = options
  // Its own: a journal that is slow to be read must not keep requests from their records.
  const guardedApart = createStoreGuard(failures)
  const oversight = openOversight({ settings, store, guarded: guardedApart, version, nowMs })
  const { bookkeeping } = oversight
  const { tracing } = options
  const traced = tracing === null ? [] : [{ begin: tracing.request, relayed: () => {} }]
  // Each by itself: one that fails keeps nothing from the others.
  const reports = joinedReports(
    [...oversight.reports, ...traced].map((each) => harmlessReports(each, failures)),
  )
  const models = createModels({
    store,
    guarded,
    harmless: (work) => failures.around('store', undefined, work),
    digest,
    nowMs,
  })
  const windows = createWindows({ models, onLearnt: bookkeeping.learnt })
  const counts = createCounts({ models, promptsMax: PROMPTS_MAX })
  const accepted = createAcceptedCredentials(models, heldKeyMark)
  const serverWindows = createServerWindows({
    upstreams,
    nowMs,
    heldKeyMark,
    onTrouble: warnings.unasked,
  })
  const records = createRecords(store, guarded)
  const compactWishes = createCompactWishes(store, guarded)
  const learning = createLearning({
    models,
    windows,
    counts,
    serverWindows,
    onCut: warnings.cut,
  })
  const lifecycle = createLifecycle()
  const tellFailure = ({ code }: FoldgateError): void => log.warn('a request was refused or failed', { code })
  const timesTurnedAway = createThrottle({ gapMs: TURNED_AWAY_GAP_MS, nowMs: () => performance.now() })
  const arrival = {
    silenceMs: orEndless(limits.idle_s * 1000),
    bytesPerSecondMin: limits.body_kb_per_s * 1024,
  }
  const rightsOf = (name: string | null): ClientRights | null =>
    settings.client_keys.find((key) => key.name === name) ?? null
  const relay = createRelay({
    upstreams,
    rightsOf,
    reports,
    arrival,
    failures,
    nowMs,
    onUncompacted: warnings.uncompacted,
    onFailure: tellFailure,
  })
  const cache = createMadeCache({ bytesMax: MADE_CHARS_MAX })
  const archive = settings.archive.dir === null ? null : openArchive(settings.archive.dir)
  const rateLimits = createRateLimits({ nowMs, heldKeyMark })
  const summaryWriter = createSummaryWriter({
    store,
    guarded,
    onWritten: (job, written, milliseconds) => {
      tellSummary(log, job.group, written)
      oversight.metrics.summaryWritten(written)
      bookkeeping.summaryWritten(job, written, milliseconds)
      const { group: conversation, model, upstream } = job
      const endedAtMs = nowMs()
      const call = { conversation, model, upstream, startedAtMs: endedAtMs - milliseconds, endedAtMs }
      tracing?.summary(call, written)
    },
    onDefect: (error) => failures.note('summary', error),
  })
  const summarizer = createSummarizer({
    upstreams,
    writer: summaryWriter,
    accepted,
    models,
    windows,
    rateLimits,
    parameters: createParameterMemory(),
    profiles: options.profiles,
    ahead: createAheadRecords(store, guarded),
    spent: createSpentTokens(store, guarded),
    cache,
    failures,
    nowMs,
    fileToName: (conversation) => (settings.archive.mention ? (archive?.fileOf(conversation) ?? null) : null),
  })
  const heap = createHeapTidying()
  const bodyLimits = {
    bodyBytesMax: limits.body_mb * MEGABYTE,
    budget: createByteBudget({
      bytesMax: limits.bytes_in_flight_mb * MEGABYTE,
      onCrowded: heap.crowded,
      onEmpty: heap.over,
    }),
    arrival,
  }
  const lastBodies = createLastBodies({
    bytesMax: limits.last_bodies_mb * MEGABYTE,
    bodyBytesMin: LAST_BODY_BYTES_MIN,
    idleMs: LAST_BODY_IDLE_MS,
  })
  const handle = createHandle({
    upstreams,
    relay,
    reports,
    records,
    compactWishes,
    models,
    windows,
    accepted,
    learning,
    failures,
    nowMs,
    usageInStreams: settings.usage.in_streams,
    profiles: options.profiles,
    serverWindows,
    findWindow: createWindowFinder({
      models,
      windows,
      serverWindows,
      hostOf: (name) => hostOf(upstreams, name),
      onFound: (key, profile, window, sources) => {
        models.noteWindow(key, profile, sources)
        warnings.overruled(profile, key.model, window)
      },
    }),
    measure: createMeasure({ counts, wantsCount: learning.wantsCount, onGuess: warnings.guessed }),
    onRepaired: (repairs) => log.debug('a conversation was repaired', repairs),
    onFailure: tellFailure,
    cache,
    keepTaken: createArchiving({ archive, cache, failures, nowMs }),
    summarizer,
    rateLimits,
    recallOffer: createRecallOffers(),
    rightsOf,
    bodyLimits,
    heavyWork: createHeavyWork({ bytesMin: HEAVY_BYTES_MIN }),
    reading: {
      readFacts: createFactsReader(digest, { entriesMax: FACTS_ENTRIES_MAX }),
      limits: readLimits(limits),
      lastBodies,
    },
    stallMs: orEndless(limits.idle_s * 1000),
  })
  const server: Server = createServer({
    limits: { concurrent: limits.concurrent, headersMs: limits.headers_s * 1000 },
    corsOrigins: settings.cors.origins,
    hosts: settings.hosts,
    clientKeys: settings.client_keys.map(({ name, key, upstreams: chosen }) => ({
      name,
      keys: key.now,
      upstreams: chosen,
    })),
    guardsPages: isLoopback(settings.host),
    hasUpstream: upstreams.has,
    scopeOf: createScopes({ secret: options.secret, header: settings.scope.header }),
    lifecycle,
    handleConversation: handle,
    relay,
    onTurnedAway: (error) => {
      oversight.metrics.turnedAway()
      bookkeeping.turnedAway(error)
      const times = timesTurnedAway(error.code)
      if (times === 1) tellFailure(error)
      else if (times !== null) log.warn('requests were refused', { code: error.code, times })
    },
    onFailure: tellFailure,
  })

  const explain = createExplain({
    profiles: options.profiles,
    findWindow: (profile, model) => findOwnWindow(profile, model, { upstreams, serverWindows }),
    usageInStreams: settings.usage.in_streams,
    limits: readLimits(limits),
  })
  const adminServer = oversight.openServer({
    summaryWriter: {
      forget: (conversation) => {
        // No id leads to a body or to what was read: all of it goes, and the next request of each conversation is
        // read as a whole.
        lastBodies.clear()
        records.forgetRead()
        return summaryWriter.forget(conversation)
      },
    },
    compactWishes,
    knownModels: {
      list: models.list,
      forget: (id) => {
        const key = models.forgetAll(id)
        if (key !== null) counts.forget(key)
        return key
      },
    },
    bodyLimits,
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
    onFailure: tellFailure,
  })

  async function end(): Promise<void> {
    await summaryWriter.close()
    await models.close()
    await oversight.close()
    await serverWindows.close()
    await upstreams.destroy()
    await store.close()
    // Last: it may take seconds, and what was broken off before is told, too.
    await options.tracing?.close()
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

const MEGABYTE = 1024 * 1024

/** From so many new bytes on a conversation waits until another has been measured: some tens of milliseconds of work. */
const HEAVY_BYTES_MIN = 512 * 1024

/** Messages whose facts are remembered: some hundred bytes each, no content. */
const FACTS_ENTRIES_MAX = 50_000

/** Of a model's name in the log. */
const MODEL_CHARS_MAX = 200

/** A smaller body is read as fast as one before it would be found, in bytes. */
const LAST_BODY_BYTES_MIN = 64 * 1024

/** How long a body is held for the next request of its conversation, in milliseconds. */
const LAST_BODY_IDLE_MS = 600_000

/** Characters of previews, recaps and the like that are kept to be sent again. */
const MADE_CHARS_MAX = 32 * 1024 * 1024

/** Prompts that providers have answered, remembered by digest: one for each request point of late. */
const PROMPTS_MAX = 20_000

/** How long the log only counts the same refusal, in milliseconds: whoever has no key may ask as often as he likes. */
const TURNED_AWAY_GAP_MS = 1_000

/** The longest time a timer can wait, in milliseconds. */
const ENDLESS_MS = 2 ** 31 - 1

/** A limit of 0 is none. */
function orEndless(milliseconds: number): number {
  return milliseconds === 0 ? ENDLESS_MS : milliseconds
}
