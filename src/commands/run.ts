import { openSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { loadConfiguration } from '../config/configuration.ts'
import { flagOrVariable } from '../config/overrides.ts'
import { problemOf } from '../config/problem.ts'
import { loadSettings, type Settings } from '../config/settings.ts'
import {
  addressOf,
  type ListenAddress,
  ListenError,
  type Listening,
  onThisMachine,
} from '../server/listeners.ts'
import { closingLines, readFigures, type RunEnd, type RunFigures } from './run/closing-lines.ts'
import {
  type Additions,
  type Behind,
  LaunchError,
  type LaunchPlace,
  printed,
  type Way,
  withoutKey,
} from './run/known-program.ts'
import { ownFolder, removeFolder, removeLeftFolders } from './run/own-folder.ts'
import { answers, findRunning, type RunningFoldgate } from './run/running-foldgate.ts'
import { addressesOf, type Destinations, destinationsOf } from './run/destinations.ts'
import { createLog, type Log, silentLog } from '../telemetry/log/log.ts'
import { tellUpstreamTroubles } from '../models/discovery/check-addresses.ts'
import { matchProfile } from '../profiles/match.ts'
import { makeFolder, stateFile } from '../storage/state-folder.ts'
import { StoreError } from '../storage/store-error.ts'
import { parseUpstreamAddress } from '../upstream/address.ts'
import { askFoldgate, type CommandContext, complain, flagText, say } from './command.ts'
import { lookUpWindow } from './look-up-window.ts'
import { listenTrouble, type OpenedFoldgate, openFoldgate, sayItRuns } from './open-foldgate.ts'
import type { FlagName } from '../config/flags.ts'
import { readFile, writeFile } from 'node:fs/promises'
import type { Environment } from '../config/api-keys.ts'
import type { Secret } from '../config/secret.ts'
import { childEnvironment, runChild } from './run/start-child.ts'
import { findProgram } from './run/find-program.ts'
import type { Profile } from '../profiles/schema.ts'

/** Runs a command with a Foldgate of its own in front of its model. Resolves with the command's exit code. */
export async function runCommand(context: CommandContext): Promise<number> {
  if (context.flags.attach === true) return runAttached(context)
  // It is for this command: nobody else on the network reaches it, whatever the settings say of others.
  const own = { ...context, flags: { ...context.flags, host: LOOPBACK } }
  const configuration = await loadConfiguration(own)
  if (!configuration.ok) return complain(context, configuration.problems)
  const { settings, files } = configuration
  const profile = flagText(context.flags, 'profile')
  const asked = matchProfile(files.profiles, { model: null, headers: {}, requested: profile })
  if (asked.kind === 'unknown') return complain(context, [problemOf('--profile', asked.message)])
  const destinations = destinationsOf(settings, await environmentOf(context))
  if ('message' in destinations) return complain(context, [destinations])
  tellMissingModel(context, destinations.behind)
  const settingsInForce = settingsOfRun(own, settings, destinations)
  const asksWindow = findProgram(context.program).program.asksWindow === true
  const windowFound = asksWindow ? windowOf(own, settingsInForce, files.profiles) : Promise.resolve(null)
  try {
    if (context.flags.print === true) {
      const port = flagText(context.flags, 'port') ?? 'PORT'
      const ahead = {
        ...destinations.behind,
        windowTokens: await windowFound,
        origin: `http://${LOOPBACK}:${port}`,
      }
      return say(context, await shown(context, ahead))
    }
    const log = openLog(own, settings)
    const looked = lookAtUpstreams(own, settings, destinations)
    // They are waited for further down: where the start ends before, what they fail for is nobody's matter.
    for (const begun of [windowFound, looked]) void begun.catch(() => {})
    const opened = await openFoldgate(own, {
      settings: settingsInForce,
      profiles: files.profiles,
      inForce: (profiles) => withOneForAll(profiles, profile),
      log,
      write: (line) => log.info(line),
      anyAdminPort: flagOrVariable('admin-port', context.flags, context.env) === null,
    })
    return await runWith(own, opened, { ...destinations, windowFound }, looked)
  } catch (error) {
    if (error instanceof ListenError) return complain(context, [await listenTrouble(error, settings)])
    if (error instanceof StoreError) return complain(context, [error.message])
    return notStarted(context, error)
  }
}

// --- internal ---

const LOOPBACK = '127.0.0.1'

/** How long the start looks at the addresses of upstreams, in milliseconds. */
const LOOKING_MS = 1_000

/** How long requests may go on that the command has left behind, in seconds. */
const LEFT_BEHIND_S = 2

function settingsOfRun({ flags }: CommandContext, settings: Settings, { upstreams }: Destinations): Settings {
  return {
    ...settings,
    upstreams,
    port: flags.port === undefined ? 0 : settings.port,
    drain: { ...settings.drain, timeout_s: Math.min(settings.drain.timeout_s, LEFT_BEHIND_S) },
  }
}

/** What is wrong with addresses. It is known in milliseconds where it can be: the command does not wait for more. */
async function lookAtUpstreams(
  { env }: CommandContext,
  settings: Settings,
  { upstreams }: Destinations,
): Promise<readonly string[]> {
  const troubles: string[] = []
  // The vendors' are known to be right.
  const named = new Map([...upstreams].filter(([name]) => settings.upstreams.has(name)))
  const enough = AbortSignal.timeout(LOOKING_MS)
  await tellUpstreamTroubles(
    { ...settings, upstreams: named },
    env,
    (line) => void troubles.push(line),
    enough,
  )
  return troubles
}

/** The window that the command's requests will meet, as far as it is known before the first of them. */
async function windowOf(
  context: CommandContext,
  settings: Settings,
  profiles: ReadonlyMap<string, Profile>,
): Promise<number | null> {
  const { flags } = context
  const model = flagText(flags, 'model')
  const match = matchProfile(profiles, { model, headers: {}, requested: flagText(flags, 'profile') })
  if (match.kind === 'unknown') return null
  // What is asked for longer than it is waited for would keep this process when its command has ended.
  const wait = { asksUpstream: model !== null, waitMs: LOOKING_MS }
  const asked = { settings, place: context, onTrouble: () => {}, ...wait }
  const { tokens, source } = await lookUpWindow(asked, match.profile, model ?? '')
  return source === 'default' ? null : tokens
}

/** The terminal is the command's: lines that are asked for go to a file. */
function openLog(context: CommandContext, { log_level: level }: Settings): Log {
  if (flagOrVariable('log-level', context.flags, context.env) === null || level === 'silent') return silentLog
  const path = stateFile(context, 'run.log')
  try {
    makeFolder(dirname(path))
    const file = openSync(path, 'a', 0o600)
    return createLog({
      level,
      write: (line) => void writeSync(file, line),
      pretty: false,
      now: () => new Date(),
    })
  } catch {
    throw new LaunchError(`--log-level: lines go to ${path}, which cannot be written: leave it out`)
  }
}

async function runWith(
  context: CommandContext,
  opened: OpenedFoldgate,
  { windowFound, ...destinations }: Destinations & { readonly windowFound: Promise<number | null> },
  looked: Promise<readonly string[]>,
): Promise<number> {
  const { app, stopWatching, storeName } = opened
  const { stderr, flags } = context
  const listening = await app.listen().catch(async (error: unknown) => {
    stopWatching()
    await app.close()
    throw error
  })
  const origin = addressOf(listening)
  const page = listening.admin === null ? null : `${addressOf(listening.admin)}/`
  const isKept = flags.keep === true
  const addresses = addressesOf(destinations.upstreams)
  let drained: Promise<number> | null = null
  const drain = (): Promise<number> => (drained ??= app.drain(false))
  let withdraw: (() => Promise<void>) | null = null
  try {
    refuseLoop(listening, destinations)
    const windowTokens = await windowFound
    const additions = await additionsFor(context, { ...destinations.behind, windowTokens, origin })
    withdraw = await sayItRuns(context, opened, listening, { ...destinations, serves: false })
    if (listening.adminTrouble !== null)
      stderr.write(`foldgate: there is no page: ${listening.adminTrouble}\n`)
    else if (stderr.isTTY && page !== null) stderr.write(`foldgate: what it does is shown at ${page}\n`)
    for (const trouble of await looked) stderr.write(`foldgate: ${trouble}\n`)
    const exitCode = await startWith(context, additions)
    if (!isKept) await drain()
    const metrics = await app.metrics()
    const place = page === null ? `it goes on at ${origin}/v1` : `it goes on, with its page at ${page}`
    const seen = isKept ? `${place}, until Ctrl-C.` : howToSee(context, storeName)
    tellEnd(context, exitCode, readFigures(metrics), { seen, goesOn: isKept, addresses })
    if (isKept) await untilSignal(context)
    return exitCode
  } finally {
    stopWatching()
    await withdraw?.()
    await drain()
  }
}

/** A variable that an earlier run has left may name a port that is this one's now. */
function refuseLoop({ port }: Listening, { upstreams }: Destinations): void {
  for (const { name, url } of upstreams.values()) {
    const { loopback, origin } = parseUpstreamAddress(url)
    if (loopback && new URL(origin).port === String(port))
      throw new LaunchError(
        `the upstream "${name}" is ${url}, which is this Foldgate itself: name another by --upstream`,
      )
  }
}

/** Messages are held in memory only: they end with the run. */
function howToSee({ startedAs }: CommandContext, storeName: string): string {
  const keep = `to see it message by message, the same command with --keep ("${startedAs} run --keep …") keeps its page open`
  if (storeName === 'memory:') return `${keep}.`
  const again = startedAs.replace(/ --$/, '')
  return `to see what was done, request by request: "${again}" shows it on its page; ${keep}.`
}

/** Until Ctrl-C, or until its terminal goes away. */
function untilSignal({ onSignal }: CommandContext): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) onSignal(signal, resolve)
  })
}

/** Runs a command in front of whose model a Foldgate stands that runs already. */
async function runAttached(context: CommandContext): Promise<number> {
  const given = ownFlags.filter((name) => context.flags[name] !== undefined)
  if (given.length > 0) {
    const suggestion = 'start that one with it, or leave --attach out'
    const told = given.map((name) =>
      problemOf(`--${name}`, 'is decided by the Foldgate that runs already', suggestion),
    )
    return complain(context, told)
  }
  const { settings } = await loadSettings(context)
  // Whoever has the usual port may be anybody: what a program asks, and its key, go there only by the user's own word.
  const isNamed = context.flags.port !== undefined
  const port = flagOrVariable('port', context.flags, context.env) === null ? null : settings.port
  const found = await findRunning(context, port)
  if (found === 'unproved') {
    const advice = 'end it or start it anew, or leave --attach out'
    const message = `the Foldgate of yours that says it has ${addressOf(settings)} does not answer there, or another program does`
    return complain(context, [problemOf('--attach', message, advice)])
  }
  const running = found ?? (isNamed ? await atPort(settings) : null)
  if (running === null) {
    const message = isNamed
      ? `no Foldgate runs at ${addressOf(settings)}`
      : 'no Foldgate of yours runs, by its own word'
    const advice = `start one (${context.startedAs.replace(/ --$/, '')}), name the port of another with --port, or leave --attach out`
    return complain(context, [problemOf('--attach', message, advice)])
  }
  const { token } = settings.admin
  tellMissingModel(context, running.behind)
  try {
    const ahead = { ...running.behind, ...running, windowTokens: null }
    if (context.flags.print === true) return say(context, await shown(context, ahead))
    const additions = await additionsFor(context, ahead)
    context.stderr.write(`foldgate: ${attachedTo(running, found !== null)}\n`)
    const before = await metricsOf(running, token)
    const exitCode = await startWith(context, additions)
    const after = await metricsOf(running, token)
    const { admin, origin } = running
    const seen =
      admin === null
        ? `the Foldgate at ${origin} goes on.`
        : `to see what was done, message by message: ${admin}, as long as that Foldgate runs.`
    const addresses = new Map(Object.entries(running.addresses))
    if (before === null || after === null)
      context.stderr.write(
        `foldgate: ended; what came through is known to that one only.\nfoldgate: ${seen}\n`,
      )
    else tellEnd(context, exitCode, readFigures(after, before), { seen, goesOn: false, addresses })
    return exitCode
  } catch (error) {
    return notStarted(context, error)
  }
}

/** Tells why a command was not started; throws what is no reason for that. */
function notStarted(context: CommandContext, error: unknown): number {
  if (!(error instanceof LaunchError)) throw error
  complain(context, [error.message])
  return error.exitCode
}

const ownFlags = [
  'upstream',
  'profile',
  'profiles',
  'store',
  'admin-port',
  'log-level',
] as const satisfies FlagName[]

type Found = Omit<RunningFoldgate, 'secret' | 'serves'>

/** One that could not say that it runs, or runs as another user. What is behind it nobody has told. */
async function atPort(address: ListenAddress): Promise<Found | null> {
  const origin = addressOf(onThisMachine(address))
  if (!(await answers(origin))) return null
  const behind = { messagesPath: '', isAnthropic: false, isOneServer: true, chatGptPath: null }
  return { origin, admin: null, addresses: {}, behind }
}

/** The metrics there; null where they are not to be had. */
async function metricsOf({ admin }: Found, token: Secret | null): Promise<string | null> {
  if (admin === null) return null
  try {
    const answer = await askFoldgate(`${admin}metrics`, token)
    return answer.ok ? await answer.text() : null
  } catch {
    return null
  }
}

function attachedTo({ origin, addresses }: Found, isOwn: boolean): string {
  const forwardsTo = addresses['default']
  if (forwardsTo !== undefined) return `attached to ${origin}, which forwards to ${forwardsTo}`
  if (isOwn) return `attached to ${origin}`
  return `attached to ${origin}, found by its port alone: whose it is and where it forwards to is not known`
}

/** What the command is started with. Throws a `LaunchError`. */
function additionsFor(context: CommandContext, ahead: Omit<Way, 'model'>): Promise<Additions> {
  const way = { ...ahead, model: flagText(context.flags, 'model') }
  return findProgram(context.program).program.additions(way, placeOf(context))
}

/** The same as it is printed: as it would be with another key, since nothing that is made of one tells where it stands in it. */
async function shown(context: CommandContext, ahead: Omit<Way, 'model'>): Promise<string> {
  return printed(await additionsFor({ ...context, env: withoutKey(context.env) }, ahead))
}

/** The environment as the command sees it: some set variables of their own over it. */
async function environmentOf(context: CommandContext): Promise<Environment> {
  const own = await findProgram(context.program).program.ownVariables?.(placeOf(context))
  return { ...context.env, ...own }
}

/** Says so where the command may go past the one server, since no model of that is named. */
function tellMissingModel(context: CommandContext, { isOneServer }: Behind): void {
  const { program, flags, stderr, startedAs } = context
  const found = findProgram(program)
  const way = { isOneServer, model: flagText(flags, 'model') }
  if (found.program.lacksModel?.(way, placeOf(context)) !== true) return
  const upstream = flagText(flags, 'upstream')
  const server = upstream === null ? '' : ` --upstream ${upstream}`
  const command = program.slice(0, found.ownArgumentsAt).join(' ')
  const line = `${startedAs} run${flags.attach === true ? ' --attach' : server} --model NAME -- ${command}${program.length > found.ownArgumentsAt ? ' …' : ''}`
  stderr.write(
    `foldgate: ${found.program.name} is told no model of this server, and may ask a provider of its own instead: write ${line}\n`,
  )
}

/** Starts the command with what it is given, and waits for its end, with which files end that are laid for it. Throws a `LaunchError`. */
async function startWith(context: CommandContext, additions: Additions): Promise<number> {
  const { program, env } = context
  const at = findProgram(program).ownArgumentsAt
  const command = [...program.slice(0, at), ...(additions.args ?? []), ...program.slice(at)]
  const files = Object.entries(additions.files ?? {})
  if (files.length > 0) await removeLeftFolders()
  try {
    for (const [path, text] of files) {
      makeFolder(dirname(path))
      await writeFile(path, text, { mode: 0o600, flag: 'wx' })
    }
    return await runChild({ ...context, command, env: childEnvironment(env, additions) })
  } finally {
    for (const [path] of files) {
      const trouble = await removeFolder(dirname(path))
      if (trouble !== null) context.stderr.write(`foldgate: ${trouble}\n`)
    }
  }
}

/** Says what became of the requests of a program that has ended. */
function tellEnd(
  { stderr, startedAs, hasTerminal }: CommandContext,
  exitCode: number,
  figures: RunFigures,
  end: Pick<RunEnd, 'seen' | 'goesOn' | 'addresses'>,
): void {
  // As one ends that its user has quit: by Ctrl-C, or on a terminal without a fault.
  const isQuit = exitCode === INTERRUPTED || (exitCode === 0 && hasTerminal)
  stderr.write(`${closingLines(figures, { ...end, isQuit, startedAs }).join('\n')}\n`)
}

/** As shells tell an end by SIGINT. */
const INTERRUPTED = 130

function placeOf({ program, env, cwd, pid, flags }: CommandContext): LaunchPlace {
  const folder = flags.print === true ? 'FOLDER' : ownFolder(pid)
  return { env, cwd, folder, args: program.slice(findProgram(program).ownArgumentsAt), readText }
}

/** What is not there, or not to be read, says nothing. */
function readText(path: string): Promise<string | null> {
  return readFile(path, 'utf8').catch(() => null)
}

/**
 * The profiles, of which this one is everybody's who names none: what the others are chosen by is left out. Null: all as
 * they are.
 */
function withOneForAll(
  profiles: ReadonlyMap<string, Profile>,
  name: string | null,
): ReadonlyMap<string, Profile> {
  if (name === null) return profiles
  return new Map(
    [...profiles].map(([each, profile]) => [
      each,
      { ...profile, headers: {}, models: each === name ? ['*'] : [] },
    ]),
  )
}
