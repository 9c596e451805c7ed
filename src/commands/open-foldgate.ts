import { setTimeout as sleep } from 'node:timers/promises'
import { type App, createApp } from '../app.ts'
import { TracingError, tracingWanted } from '../telemetry/tracing/trace-settings.ts'
import { openTracing, type Tracing } from '../telemetry/tracing/tracing.ts'
import { profileFilesOptions } from '../config/configuration.ts'
import { formatProblem } from '../config/problem.ts'
import type { Settings } from '../config/settings.ts'
import { watchKeys, watchProfiles } from '../config/watch-files.ts'
import type { Log } from '../telemetry/log/log.ts'
import { withOptionalPackages } from '../optional-packages.ts'
import type { Profile } from '../profiles/schema.ts'
import { letHeapGrow } from '../scheduling/heavy-work.ts'
import { openStore } from '../storage/open-store.ts'
import { proxiesFrom } from '../upstream/pools.ts'
import type { CommandContext } from './command.ts'
import type { ListenAddress, Listening } from '../server/listeners.ts'
import { addressOf, ListenError, onThisMachine } from '../server/listeners.ts'
import { announce, answers, drains, type RunningFoldgate } from './run/running-foldgate.ts'
import { addressesOf, type Destinations } from './run/destinations.ts'

export type OpenOptions = {
  readonly settings: Settings
  readonly profiles: ReadonlyMap<string, Profile>
  /** What is made of the profiles before they are used. Default: nothing. */
  readonly inForce?: (profiles: ReadonlyMap<string, Profile>) => ReadonlyMap<string, Profile>
  readonly log: Log
  /** Where traces go that are to be printed. */
  readonly write: (line: string) => void
  /** Whether the admin listener takes any free port where its own is taken. */
  readonly anyAdminPort: boolean
}

/** A Foldgate that does not listen yet, with what keeps its profiles and keys as they are on disk. */
export type OpenedFoldgate = Awaited<ReturnType<typeof openFoldgate>>

/** Opens the store and builds Foldgate on it. Rejects with a `StoreError` if the store is required and cannot be had. */
export async function openFoldgate(context: CommandContext, options: OpenOptions) {
  const { settings, log, inForce = (all) => all, anyAdminPort } = options
  letHeapGrow()
  const { store, secret, trouble } = await openStore(settings.store, context)
  let profiles = inForce(options.profiles)
  const app = createApp({
    settings,
    profiles: () => profiles,
    store,
    storeTrouble: trouble,
    secret,
    proxies: proxiesFrom(context.env),
    log,
    nowMs: Date.now,
    version: context.version,
    tracing: await openWantedTracing(settings, context, options),
    anyAdminPort,
  })
  const profileWatch = watchProfiles({
    ...profileFilesOptions(settings, context),
    profiles: options.profiles,
    onReload: (reloaded) => {
      profiles = inForce(reloaded)
      log.info('profiles reloaded', { profiles: reloaded.size })
    },
    onProblems: (problems) => {
      log.error('the changed profiles are not used, the old ones stay', {
        problems: problems.map(formatProblem).join('; '),
      })
    },
  })
  const keyWatch = watchKeys({
    settings,
    onRotated: (rotated) => log.info('keys were rotated', { settings: rotated.join(', ') }),
    onTrouble: (key) => log.error('a changed key is not used, the old one stays', key),
  })
  return {
    app,
    /** Those in force. */
    profiles: () => profiles,
    storeName: store.name,
    /** Why records are kept in memory; null if they are where the settings say. */
    storeTrouble: trouble,
    /** Reads profiles and keys again. */
    reload: () => {
      void profileWatch.reload()
      void keyWatch.reload()
    },
    stopWatching: () => {
      profileWatch.close()
      keyWatch.close()
    },
  }
}

/**
 * Listens, once a Foldgate that is shutting down has given the port up: it is waited for as long as such an end may take by
 * the settings, which are mostly the same. Rejects also when `signal` ends the wait.
 */
export async function listenWhenFree(
  app: Pick<App, 'listen'>,
  settings: ListenAddress & Pick<Settings, 'drain'>,
  log: Log,
  signal: AbortSignal,
): Promise<Listening> {
  const origin = addressOf(onThisMachine(settings))
  const { delay_s: delay, timeout_s: timeout } = settings.drain
  const enough = AbortSignal.timeout((delay + timeout) * 1_000 + HELD_MS)
  for (let triesLeft = 0; ;) {
    try {
      return await app.listen()
    } catch (error) {
      const mayWait = error instanceof ListenError && error.isTaken && !enough.aborted
      const isHeld = mayWait && (await drains(origin))
      if (!isHeld && triesLeft === 0) throw error
      if (triesLeft === 0)
        log.warn(`port ${settings.port} is held by a Foldgate that is shutting down: waiting`)
      triesLeft = isHeld ? LATE_TRIES : triesLeft - 1
      await sleep(HELD_MS, null, { signal })
    }
  }
}

/** Says in a file that it runs, for `run --attach`; null where records are kept in memory: who wants that wants nothing on disk. */
export async function sayItRuns(
  context: CommandContext,
  { storeName, app: { identity } }: OpenedFoldgate,
  { host, port, admin }: Listening,
  { upstreams, behind, serves }: Destinations & Pick<RunningFoldgate, 'serves'>,
): Promise<(() => Promise<void>) | null> {
  if (storeName === 'memory:') return null
  const running = {
    secret: identity,
    origin: addressOf(onThisMachine({ host, port })),
    admin: admin === null ? null : `${addressOf(onThisMachine(admin))}/`,
    addresses: Object.fromEntries(addressesOf(upstreams)),
    behind,
    serves,
  }
  return announce(running, context.pid, context)
}

/** Why clients cannot be listened to at an address. Where a Foldgate has it, that one is asked for its sign. */
export async function listenTrouble(error: ListenError, address: ListenAddress): Promise<string> {
  if (!error.isTaken) return error.message
  const origin = addressOf(onThisMachine(address))
  if (!(await answers(origin))) return error.message
  return (
    `Port ${address.port} on ${address.host} is taken: a Foldgate listens there already, with its own settings. ` +
    `Use that one (${origin}/v1, or foldgate run --attach --port ${address.port} -- COMMAND), or choose another port with --port (FOLDGATE_PORT).`
  )
}

// --- internal ---

/** How often it is looked whether a port is free. */
const HELD_MS = 200

/**
 * How often a port is tried that a Foldgate has held and given up: it may have ended just before it was asked, and for a moment
 * a connection of some other program may have its number.
 */
const LATE_TRIES = 5

/**
 * OpenTelemetry, if its variables ask for it. If it cannot be had, Foldgate serves without it: these variables are often
 * set for all programs of a machine.
 */
async function openWantedTracing(
  { upstreams }: Settings,
  { env, version }: CommandContext,
  { log, write }: Pick<OpenOptions, 'log' | 'write'>,
): Promise<Tracing | null> {
  if (!tracingWanted(env)) return null
  try {
    return await withOptionalPackages(
      'sending traces (OTEL_…)',
      () => openTracing({ env, upstreams, version, log, write }),
      (message) => new TracingError(message),
    )
  } catch (error) {
    if (!(error instanceof TracingError)) throw error
    log.warn('traces are not sent', { reason: error.message })
    return null
  }
}
