import type { Server } from 'node:http'
import { createMadeCache } from './compaction/made-cache.ts'
import type { Settings } from './config/settings.ts'
import { createFactsReader } from './conversation/facts.ts'
import { createValidatedValues } from './dialects/validated-values.ts'
import type { FoldgateError } from './errors.ts'
import type { Log } from './log.ts'
import { resolveWindow } from './pressure/window.ts'
import type { Profile } from './profiles/schema.ts'
import { digest } from './proxy/body-source.ts'
import { createLifecycle } from './proxy/drain.ts'
import { createFailures } from './proxy/failures.ts'
import { createHandle } from './proxy/handle.ts'
import { createByteBudget } from './proxy/limits.ts'
import { listen } from './proxy/listen.ts'
import { createMeasure } from './proxy/measure.ts'
import { createRecords } from './proxy/records.ts'
import { createRelay } from './proxy/relay.ts'
import { createRewriter } from './proxy/rewrite.ts'
import { createScopes } from './proxy/scope.ts'
import { createServer } from './proxy/server.ts'
import { createUpstreamMemory } from './proxy/upstream-memory.ts'
import type { Store } from './stores/store.ts'
import type { HttpProxies } from './upstream/pools.ts'
import { createUpstreams } from './upstream/upstreams.ts'

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
}

export type App = {
  readonly listen: () => Promise<{ readonly host: string; readonly port: number }>
  /** Ends the app in order; resolves with the number of requests that had to be cut off. */
  readonly drain: () => Promise<number>
  /** Ends the app at once. */
  readonly close: () => Promise<void>
}

/** Builds Foldgate: every part is made here and nowhere else. */
export function createApp(options: AppOptions): App {
  const { settings, log, store, nowMs } = options
  const { limits } = settings

  const upstreams = createUpstreams({
    upstreams: Object.fromEntries(
      [...settings.upstreams.values()].map((upstream) => [
        upstream.name,
        {
          url: upstream.url,
          key: upstream.key?.reveal() ?? null,
          headers: upstream.headers,
          concurrency: upstream.concurrency,
          forwardClientKey: upstream.forward_client_key,
        },
      ]),
    ),
    timeouts: {
      connectMs: limits.connect_s * 1000,
      firstByteMs: limits.first_byte_s * 1000,
      idleMs: limits.idle_s * 1000,
    },
    proxies: options.proxies,
  })

  const memory = createUpstreamMemory()
  const failures = createFailures((part, error) =>
    log.error('a part of Foldgate failed', { part, error: nameOf(error) }),
  )
  const records = createRecords(store, failures)
  const lifecycle = createLifecycle()
  const tellFailure = (error: FoldgateError): void =>
    log.warn('a request was refused or failed', { code: error.code })
  const relay = createRelay({
    upstreams,
    onUncompacted: once((path: string) =>
      log.warn(
        'relayed without compaction: set the client to chat completions to have conversations compacted',
        { path },
      ),
    ),
    onFailure: tellFailure,
  })
  const handle = createHandle({
    upstreams,
    relay,
    records,
    memory,
    failures,
    nowMs,
    profiles: options.profiles,
    measure: createMeasure({ onGuess: once((model: string) => warnOfGuess(log, model)) }),
    onFailure: tellFailure,
    rewriter: createRewriter({ cache: createMadeCache({ charsMax: MADE_CHARS_MAX }), records }),
    scopeOf: createScopes({ secret: options.secret, header: settings.scope.header }),
    rightsOf: (name) => settings.client_keys.find((key) => key.name === name) ?? null,
    bodyLimits: {
      bodyBytesMax: limits.body_mb * MEGABYTE,
      budget: createByteBudget(limits.bytes_in_flight_mb * MEGABYTE),
      silenceMs: orEndless(limits.idle_s * 1000),
    },
    reading: {
      readFacts: createFactsReader(digest, { entriesMax: FACTS_ENTRIES_MAX }),
      validatedOf: createValidatedValues({ entriesMax: VALIDATED_ENTRIES_MAX }),
    },
    stallMs: orEndless(limits.idle_s * 1000),
  })
  const server: Server = createServer({
    limits: { concurrent: limits.concurrent, headersMs: limits.headers_s * 1000 },
    corsOrigins: settings.cors.origins,
    hosts: settings.hosts,
    clientKeys: settings.client_keys.map(({ name, key }) => ({ name, key: key.reveal() })),
    holdsKey: upstreams.holdsKey,
    hasUpstream: upstreams.has,
    lifecycle,
    handleChat: handle,
    relay,
    onFailure: tellFailure,
  })

  return {
    listen: () =>
      listen(server, {
        host: settings.host,
        port: settings.port,
        portFlag: '--port',
        portVariable: 'FOLDGATE_PORT',
        hostFlag: '--host',
      }),
    drain: async () => {
      const cutOff = await lifecycle.drain(server, {
        delayMs: settings.drain.delay_s * 1000,
        timeoutMs: settings.drain.timeout_s * 1000,
      })
      await upstreams.destroy()
      await store.close()
      return cutOff
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
      await upstreams.destroy()
      await store.close()
    },
  }
}

/** The window that a model gets under a profile before anything was learnt: what `foldgate check` tells. */
export function configuredWindow(profile: Profile, model: string) {
  return resolveWindow({
    configuredTokens: profile.window.tokens === 'auto' ? null : profile.window.tokens,
    maxTokens: profile.window.max,
    learnt: null,
    model,
  })
}

// --- internal ---

const MEGABYTE = 1024 * 1024

/** Messages whose facts are remembered: some hundred bytes each, no content. */
const FACTS_ENTRIES_MAX = 100_000

/** Large values such as tool lists that were found to be JSON, remembered by digest. */
const VALIDATED_ENTRIES_MAX = 1_000

/** Characters of previews, recaps and the like that are kept to be sent again. */
const MADE_CHARS_MAX = 32 * 1024 * 1024

/** The longest time a timer can wait, in milliseconds. */
const ENDLESS_MS = 2 ** 31 - 1

/** A limit of 0 is none. */
function orEndless(milliseconds: number): number {
  return milliseconds === 0 ? ENDLESS_MS : milliseconds
}

/** Calls `tell` once for each distinct text, for the first few hundred of them. */
function once(tell: (text: string) => void): (text: string) => void {
  const told = new Set<string>()
  return (text) => {
    if (told.has(text) || told.size >= TOLD_MAX) return
    told.add(text)
    tell(text)
  }
}

const TOLD_MAX = 500

function warnOfGuess(log: Log, model: string): void {
  log.warn(
    'the window of this model is not known and taken to be 128000: set window.tokens in a profile that matches it',
    {
      model: model.slice(0, 200),
    },
  )
}

function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  // Messages of foreign errors may quote what they were given; a stack's first frame says where to look.
  const frame = error.stack?.split('\n').find((line) => line.trimStart().startsWith('at '))
  return `${error.name} ${frame?.trim() ?? ''}`.trim()
}
