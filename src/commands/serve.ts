import { totalmem } from 'node:os'
import { getHeapStatistics } from 'node:v8'
import { archiveTrouble } from '../archive/archive.ts'
import { loadConfiguration } from '../config/configuration.ts'
import { ListenError } from '../server/listeners.ts'
import { behindOf } from './run/destinations.ts'
import { createLog } from '../telemetry/log/log.ts'
import { tellUpstreamTroubles } from '../models/discovery/check-addresses.ts'
import { StoreError } from '../storage/store-error.ts'
import { type CommandContext, complain } from './command.ts'
import {
  listenTrouble,
  listenWhenFree,
  type OpenedFoldgate,
  openFoldgate,
  sayItRuns,
} from './open-foldgate.ts'
import { type Memory, shutdownLine, startTold, startWarnings, strayVariables } from './start-lines.ts'

/** Runs the proxy until a signal ends it. */
export async function serve(context: CommandContext): Promise<number> {
  const { version, stdout } = context
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
  let opened: OpenedFoldgate
  try {
    const { profiles } = configuration.files
    const write = (line: string): void => void context.stderr.write(line)
    opened = await openFoldgate(context, { settings, profiles, log, write, anyAdminPort: false })
  } catch (error) {
    if (error instanceof StoreError) return complain(context, [`store.required: ${error.message}`])
    throw error
  }
  const { app, stopWatching } = opened
  /** Ends what the start still waits for. */
  const starting = new AbortController()
  let looked: Promise<void> | null = null
  // Before anything is printed: a program that waits for the start line may signal at once.
  context.onSignal('SIGHUP', opened.reload)
  const ended = endSignal(context, (signal) => {
    // At once: what the start still waits for may take longer than a load balancer's next question.
    app.leave()
    starting.abort()
    log.info(shutdownLine(signal, app.running(), settings), { signal })
  })
  let withdraw: (() => Promise<void>) | null = null
  try {
    const listening = await listenWhenFree(app, settings, log, starting.signal)
    const { host, port, adminTrouble } = listening
    if (settings.log_level !== 'silent') {
      const { message, facts } = startTold(settings, { ...listening, version, profiles: opened.profiles() })
      startLog.info(message, output.pretty ? {} : { ...facts, records: opened.storeName })
      // A person reads a line each; where records are kept is a matter of the log.
      if (output.pretty)
        for (const [name, fact] of Object.entries(facts)) startLog.info(`  ${name.padEnd(9)}  ${fact}`)
    }
    for (const line of strayVariables(context.env, settings)) log.warn(line)
    for (const line of startWarnings(settings, { host, port }, memoryOf(context))) log.warn(line)
    looked = tellUpstreamTroubles(settings, context.env, log.warn, starting.signal)
    if (adminTrouble !== null) {
      log.warn('there is no page: Foldgate goes on without it', { reason: adminTrouble })
    }
    if (opened.storeTrouble !== null) {
      log.warn('the store cannot be used: records are kept in memory, and end with the process', {
        reason: opened.storeTrouble,
      })
    }
    const { upstreams } = settings
    withdraw = await sayItRuns(context, opened, listening, {
      upstreams,
      behind: behindOf(upstreams),
      serves: true,
    })
    const unkept = settings.archive.dir === null ? null : await archiveTrouble(settings.archive.dir)
    if (unkept !== null) log.warn(unkept)
  } catch (error) {
    const isEnded = starting.signal.aborted
    starting.abort()
    stopWatching()
    await app.close()
    if (isEnded) return 0
    if (error instanceof ListenError) return complain(context, [await listenTrouble(error, settings)])
    throw error
  }
  const signal = await ended
  stopWatching()
  await looked
  // A person at a terminal has no load balancer in front that has to hear of it first.
  const [cutOff] = await Promise.all([app.drain(signal !== 'SIGINT'), withdraw?.()])
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

type EndSignal = 'SIGTERM' | 'SIGINT'

/** Resolves at the first signal to end; a second one ends the process at once. */
function endSignal(
  { onSignal, exit }: CommandContext,
  onFirst: (signal: EndSignal) => void,
): Promise<EndSignal> {
  return new Promise((resolve) => {
    let signals = 0
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      onSignal(signal, () => {
        signals += 1
        if (signals > 1) exit(1)
        onFirst(signal)
        resolve(signal)
      })
    }
  })
}
