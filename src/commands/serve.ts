import { totalmem } from 'node:os'
import { getHeapStatistics } from 'node:v8'
import { TracingError, tracingWanted } from '../activity/tracing/settings.ts'
import { openTracing, type Tracing } from '../activity/tracing/tracing.ts'
import { createApp } from '../app.ts'
import { archiveTrouble } from '../archive/archive-trouble.ts'
import { loadConfiguration, profileFilesOptions } from '../config/configuration.ts'
import { formatProblem } from '../config/problem.ts'
import type { Settings } from '../config/settings.ts'
import { watchKeys } from '../config/watch-keys.ts'
import { watchProfiles } from '../config/watch-profiles.ts'
import { ListenError } from '../http/listen.ts'
import { createLog, type Log } from '../log/log.ts'
import { withOptionalPackages } from '../optional-packages.ts'
import { openStore, type OpenedStore } from '../stores/open-store.ts'
import { StoreError } from '../stores/store-error.ts'
import { proxiesFrom } from '../upstream/pools.ts'
import { complain, type CommandContext } from './command.ts'
import { startLine, startWarnings, type Memory } from './start-lines.ts'

/** Runs the proxy until a signal ends it. */
export async function serve(context: CommandContext): Promise<number> {
  const { env, version, stdout } = context
  const configuration = await loadConfiguration(context)
  if (!configuration.ok) return complain(context, configuration.problems)
  const { settings } = configuration
  const output = {
    write: (line: string) => void stdout.write(line),
    pretty: stdout.isTTY,
    now: () => new Date(),
  }
  const log = createLog({ ...output, level: settings.log_level })
  // The line that says where it listens is logged at every level but `silent`.
  const startLog = createLog({ ...output, level: 'info' })
  let opened: OpenedStore
  try {
    opened = await openStore(settings.store, context)
  } catch (error) {
    if (error instanceof StoreError) return complain(context, [`store.required: ${error.message}`])
    throw error
  }
  const { store, secret } = opened
  let { profiles } = configuration.files
  const app = createApp({
    settings,
    profiles: () => profiles,
    store,
    secret,
    proxies: proxiesFrom(env),
    log,
    nowMs: Date.now,
    version,
    tracing: await openWantedTracing(settings, context, log),
  })
  const profileWatch = watchProfiles({
    ...profileFilesOptions(settings, context),
    profiles,
    onReload: (reloaded) => {
      profiles = reloaded
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
    onTrouble: (trouble) => log.error('a changed key is not used, the old one stays', trouble),
  })
  const stopWatching = (): void => {
    profileWatch.close()
    keyWatch.close()
  }
  // Before anything is printed: a program that waits for the start line may signal at once.
  context.onSignal('SIGHUP', () => {
    void profileWatch.reload()
    void keyWatch.reload()
  })
  const ended = endSignal(context, log)
  try {
    const { host, port, admin, adminTrouble } = await app.listen()
    if (settings.log_level !== 'silent')
      startLog.info(startLine(settings, { version, host, port, admin, store: store.name, profiles }))
    for (const line of startWarnings(settings, { host, port }, memoryOf(context))) log.warn(line)
    if (adminTrouble !== null) {
      log.warn('the admin listener cannot be opened: Foldgate goes on without it', { reason: adminTrouble })
    }
    if (opened.trouble !== null) {
      log.warn('the store cannot be used: records are kept in memory, and end with the process', {
        reason: opened.trouble,
      })
    }
    const unkept = settings.archive.dir === null ? null : await archiveTrouble(settings.archive.dir)
    if (unkept !== null) log.warn(unkept)
  } catch (error) {
    stopWatching()
    await app.close()
    if (error instanceof ListenError) return complain(context, [error.message])
    throw error
  }
  await ended
  stopWatching()
  const cutOff = await app.drain()
  if (cutOff > 0)
    log.warn('requests were cut off: they ran longer than drain.timeout_s', { requests: cutOff })
  return 0
}

// --- internal ---

/** A container without a limit reports more than the machine has, or 0. */
function memoryOf({ containerBytes }: CommandContext): Memory {
  return {
    heapBytes: getHeapStatistics().heap_size_limit,
    allBytes: containerBytes > 0 ? Math.min(containerBytes, totalmem()) : totalmem(),
  }
}

/**
 * OpenTelemetry, if its variables ask for it. If it cannot be had, Foldgate serves without it: these variables are often
 * set for all programs of a machine.
 */
async function openWantedTracing(
  { upstreams }: Settings,
  { env, version, stderr }: CommandContext,
  log: Log,
): Promise<Tracing | null> {
  if (!tracingWanted(env)) return null
  try {
    return await withOptionalPackages(
      'sending traces (OTEL_…)',
      () => openTracing({ env, upstreams, version, log, write: (line) => void stderr.write(line) }),
      (message) => new TracingError(message),
    )
  } catch (error) {
    if (!(error instanceof TracingError)) throw error
    log.warn('traces are not sent', { reason: error.message })
    return null
  }
}

/** Resolves at the first signal to end; a second one ends the process at once. */
function endSignal({ onSignal, exit }: CommandContext, log: Log): Promise<void> {
  return new Promise((resolve) => {
    let signals = 0
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      onSignal(signal, () => {
        signals += 1
        if (signals > 1) exit(1)
        log.info('shutting down: running requests are finished first', { signal })
        resolve()
      })
    }
  })
}
