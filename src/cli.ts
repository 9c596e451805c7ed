import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { totalmem } from 'node:os'
import { buffer } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { getHeapStatistics } from 'node:v8'
import { explainFile } from './admin/explain/explain-command.ts'
import { createApp } from './app.ts'
import { findWindow } from './commands/find-window.ts'
import { archiveTrouble } from './archive/archive-trouble.ts'
import { purgeArchive } from './archive/purge-archive.ts'
import { addressOf } from './http/listeners.ts'
import { checkConfiguration } from './commands/check-configuration.ts'
import { loadConfiguration, profileFilesOptions } from './config/configuration.ts'
import { commands, flags, parseArguments, type FlagValues } from './config/flags.ts'
import { formatProblem } from './config/problem.ts'
import { loadSettings, type Settings } from './config/settings.ts'
import { watchKeys } from './config/watch-keys.ts'
import { watchProfiles } from './config/watch-profiles.ts'
import { createLog, type Log } from './log/log.ts'
import { loadCounter } from './tokens/encodings.ts'
import { profileSchema } from './profiles/schema.ts'
import { ListenError } from './http/listen.ts'
import { openMemoryStore } from './stores/memory-store.ts'
import { openStore, type OpenedStore } from './stores/open-store.ts'
import { purgeStore } from './commands/purge-store.ts'
import { StoreError } from './stores/store-error.ts'
import { openTracing, type Tracing } from './activity/tracing/open-tracing.ts'
import { TracingError } from './activity/tracing/tracing-error.ts'
import { tracingWanted } from './activity/tracing/wanted.ts'
import { startLine } from './commands/start-line.ts'
import { startWarnings, type Memory } from './commands/start-warnings.ts'
import { proxiesFrom } from './upstream/pools.ts'

/** Runs the command that the arguments name. Resolves with the exit code. */
export async function run(): Promise<number> {
  // Whoever reads the log may go away: that ends neither a proxy nor a command.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  const parsed = parseArguments(process.argv.slice(2))
  if (parsed.flags['version'] === true) return say(await version())
  if (parsed.flags['help'] === true) return say(help())
  if (parsed.problems.length > 0) return complain(parsed.problems.map(formatProblem))
  switch (parsed.command) {
    case 'serve':
      return serve(parsed.flags)
    case 'check':
      return check(parsed.flags)
    case 'explain':
      return explain(parsed.flags, parsed.file)
    case 'health':
      return health(parsed.flags)
    case 'purge':
      return purge(parsed.flags)
    case 'demo':
      return demo(parsed.flags)
  }
}

// --- internal ---

const DAY_MS = 86_400_000

const DEMO_STORE_CHARS_MAX = 16 * 1024 * 1024

/** Beside the sources and beside the compiled program alike. */
const builtInDirectory = fileURLToPath(new URL('../profiles/', import.meta.url))

/** How long a probe waits for an answer, in milliseconds. */
const HEALTH_MS = 3_000

function say(text: string): number {
  process.stdout.write(`${text}\n`)
  return 0
}

function complain(lines: readonly string[]): number {
  process.stderr.write(`${lines.join('\n')}\n`)
  return 1
}

async function version(): Promise<string> {
  const text = await readFile(new URL('../package.json', import.meta.url), 'utf8')
  const described: unknown = JSON.parse(text)
  const isDescribed = typeof described === 'object' && described !== null && 'version' in described
  return isDescribed ? String(described.version) : 'unknown'
}

function environment(flagValues: FlagValues) {
  return { flags: flagValues, env: process.env, cwd: process.cwd(), builtInDirectory }
}

async function serve(flagValues: FlagValues): Promise<number> {
  const where = environment(flagValues)
  const configuration = await loadConfiguration(where)
  if (!configuration.ok) return complain(configuration.problems.map(formatProblem))
  const { settings } = configuration
  const output = {
    write: (line: string) => void process.stdout.write(line),
    pretty: process.stdout.isTTY,
    now: () => new Date(),
  }
  const log = createLog({ ...output, level: settings.log_level })
  // The line that says where it listens is wanted at every level but silence.
  const startLog = createLog({ ...output, level: 'info' })
  let opened: OpenedStore
  try {
    opened = await openStore({ ...storeOptions(settings), required: settings.store.required })
  } catch (error) {
    if (error instanceof StoreError) return complain([`store.required: ${error.message}`])
    throw error
  }
  const { store, secret } = opened
  let { profiles } = configuration.files
  const app = createApp({
    settings,
    profiles: () => profiles,
    store,
    secret,
    proxies: proxiesFrom(process.env),
    log,
    nowMs: Date.now,
    version: await version(),
    tracing: await openWantedTracing(settings, log),
  })
  const watch = watchProfiles({
    ...profileFilesOptions(settings, where),
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
    watch.close()
    keyWatch.close()
  }
  // Before anything is printed: whoever waits for the line may signal at once.
  process.on('SIGHUP', () => {
    void watch.reload()
    void keyWatch.reload()
  })
  const shutdown = shutdownSignal(log)
  try {
    const { host, port, admin, adminTrouble } = await app.listen()
    if (settings.log_level !== 'silent')
      startLog.info(
        startLine(settings, { version: await version(), host, port, admin, store: store.name, profiles }),
      )
    for (const line of startWarnings(settings, { host, port }, memoryOf())) log.warn(line)
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
    if (error instanceof ListenError) return complain([error.message])
    throw error
  }
  await shutdown
  stopWatching()
  const cutOff = await app.drain()
  if (cutOff > 0)
    log.warn('requests were cut off: they ran longer than drain.timeout_s', { requests: cutOff })
  return 0
}

/** A container without a limit states one beyond the machine, and a machine without containers none. */
function memoryOf(): Memory {
  const stated = process.constrainedMemory()
  return {
    heapBytes: getHeapStatistics().heap_size_limit,
    allBytes: stated > 0 ? Math.min(stated, totalmem()) : totalmem(),
  }
}

/**
 * OpenTelemetry, where its variables ask for it; null where not, and where it cannot be had: they are often set for all
 * programs of a machine, and none of them should stay away for it.
 */
async function openWantedTracing({ upstreams }: Settings, log: Log): Promise<Tracing | null> {
  const { env } = process
  if (!tracingWanted(env)) return null
  try {
    return await openTracing({
      env,
      upstreams,
      version: await version(),
      log,
      write: (line) => void process.stderr.write(line),
    })
  } catch (error) {
    if (!(error instanceof TracingError)) throw error
    log.warn('traces are not sent', { reason: error.message })
    return null
  }
}

function storeOptions({ store }: Settings) {
  return {
    url: store.url,
    lifetimeDays: store.ttl_days,
    megabytesMax: store.max_mb,
    encryptKey: store.encrypt_key?.reveal() ?? null,
    env: process.env,
    platform: process.platform,
  }
}

/** Resolves at the first signal to end; a second one ends the process at once. */
function shutdownSignal(log: Log): Promise<void> {
  return new Promise((resolve) => {
    let signals = 0
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        signals += 1
        if (signals > 1) process.exit(1)
        log.info('shutting down: running requests are finished first', { signal })
        resolve()
      })
    }
  })
}

async function check(flagValues: FlagValues): Promise<number> {
  const model = flagValues['model']
  const result = await checkConfiguration({
    ...environment(flagValues),
    model: typeof model === 'string' ? model : null,
    resolveWindow: (profile, asked, settings) =>
      findWindow({ settings, proxies: proxiesFrom(process.env), nowMs: Date.now }, profile, asked),
  })
  const stream = result.exitCode === 0 ? process.stdout : process.stderr
  stream.write(`${result.text}\n`)
  return result.exitCode
}

async function explain(flagValues: FlagValues, file: string | null): Promise<number> {
  if (file === null && process.stdin.isTTY) {
    return complain(['foldgate explain needs the body of a request: name its file, or pipe it in'])
  }
  const { profile, model, json } = flagValues
  const result = await explainFile({
    ...environment(flagValues),
    file,
    readInput: () => buffer(process.stdin),
    profile: typeof profile === 'string' ? profile : null,
    model: typeof model === 'string' ? model : null,
    isJson: json === true,
    paper: { columns: process.stdout.columns ?? 100, color: hasColor() },
    findWindow: (under, asked, settings) =>
      findWindow({ settings, proxies: proxiesFrom(process.env), nowMs: Date.now }, under, asked),
  })
  return result.exitCode === 0 ? say(result.text) : complain([result.text])
}

function hasColor(): boolean {
  return process.stdout.isTTY && process.env['NO_COLOR'] === undefined
}

/** Asks the Foldgate that runs with these settings whether it is up. */
async function health(flagValues: FlagValues): Promise<number> {
  const loaded = await loadSettings(environment(flagValues))
  const settings = loaded.ok ? loaded.settings : loaded.sound
  const wildcard = settings.host === '0.0.0.0' || settings.host === '::'
  const host = wildcard ? '127.0.0.1' : settings.host
  const address = `${addressOf({ host, port: settings.port })}/healthz`
  try {
    const answer = await fetch(address, { signal: AbortSignal.timeout(HEALTH_MS) })
    if (answer.ok) return say('ok')
    return complain([`${address} answered ${answer.status}`])
  } catch {
    return complain([`${address} does not answer: is Foldgate running, and on this port (--port)?`])
  }
}

/** Deletes what is stored and archived: all of it, or what belongs to one conversation. */
async function purge(flagValues: FlagValues): Promise<number> {
  const loaded = await loadSettings(environment(flagValues))
  if (!loaded.ok) return complain(loaded.problems.map(formatProblem))
  const { dir } = loaded.settings.archive
  const conversation = typeof flagValues['conversation'] === 'string' ? flagValues['conversation'] : null
  try {
    say(await purgeStore({ ...storeOptions(loaded.settings), conversation }))
    return dir === null ? 0 : say(await purgeArchive(dir, conversation))
  } catch (error) {
    if (error instanceof StoreError) return complain([error.message])
    throw error
  }
}

async function demo(flagValues: FlagValues): Promise<number> {
  const { runDemo } = await import('./demo/run-demo.ts')
  const counter = await loadCounter('o200k_base')
  const { upstream, model } = flagValues
  if ((upstream === undefined) !== (model === undefined)) {
    return complain(['foldgate demo takes --upstream URL and --model NAME together, or neither'])
  }
  const own =
    typeof upstream === 'string' && typeof model === 'string'
      ? { url: upstream, model, apiKey: process.env['OPENAI_API_KEY'] ?? 'none' }
      : null
  const { failed } = await runDemo({
    startFoldgate: startForDemo,
    count: counter.count,
    write: (text) => void process.stdout.write(text),
    columns: process.stdout.columns ?? 100,
    color: hasColor(),
    ...(own === null ? {} : { upstream: own }),
  })
  return failed === 0 ? 0 : 1
}

/** A Foldgate of the demo's own: default settings, nothing of the user's read or written. */
async function startForDemo(upstream: { readonly url: string; readonly windowTokens: number | null }) {
  const loaded = await loadSettings({
    flags: { upstream: upstream.url, port: '0', 'admin-port': '0', 'log-level': 'silent' },
    env: {},
    cwd: builtInDirectory,
  })
  if (!loaded.ok) throw new Error(loaded.problems.map(formatProblem).join('; '))
  const window = upstream.windowTokens === null ? {} : { tokens: upstream.windowTokens }
  const profile = { ...profileSchema.parse({ window }), name: 'default' }
  const app = createApp({
    settings: loaded.settings,
    profiles: () => new Map([['default', profile]]),
    store: openMemoryStore({ charsMax: DEMO_STORE_CHARS_MAX, lifetimeMs: DAY_MS }),
    secret: randomBytes(32),
    proxies: proxiesFrom(process.env),
    log: createLog({ level: 'silent', write: () => {}, pretty: false, now: () => new Date() }),
    nowMs: Date.now,
    version: await version(),
    tracing: null,
  })
  const { host, port } = await app.listen()
  return { url: `http://${host}:${port}/v1`, close: app.close }
}

function help(): string {
  const rows = [
    ...Object.values(commands).map(({ usage, meaning }) => [usage, meaning]),
    ['', ''],
    ...flags.map((flag) => [`--${flag.name}${flag.value === null ? '' : ` ${flag.value}`}`, flag.meaning]),
  ]
  const width = Math.max(...rows.map(([left = '']) => left.length))
  return rows.map(([left = '', right = '']) => `${left.padEnd(width + 2)}${right}`.trimEnd()).join('\n')
}
