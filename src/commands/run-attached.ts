import { problemOf } from '../config/problem.ts'
import { flagOrVariable } from '../config/overrides.ts'
import { loadSettings } from '../config/settings.ts'
import type { FlagName } from '../config/flags.ts'
import { onThisMachine, type ListenAddress } from '../http/listen.ts'
import { addressOf } from '../http/listeners.ts'
import { closingLines } from '../launch/closing-lines.ts'
import { LaunchError } from '../launch/known-program.ts'
import { printed } from '../launch/printed.ts'
import { figuresBetween, readFigures, type RunFigures } from '../launch/run-figures.ts'
import { answers, findRunning, type RunningFoldgate } from '../launch/running.ts'
import { complain, say, type CommandContext } from './command.ts'
import { additionsFor, hasQuit, startWith, tellMissingModel } from './run-child.ts'

/** Runs a command in front of whose model a Foldgate stands that runs already. */
export async function runAttached(context: CommandContext): Promise<number> {
  const given = ownFlags.filter((name) => context.flags[name] !== undefined)
  if (given.length > 0) {
    const suggestion = 'start that one with it, or leave --attach out'
    const told = given.map((name) =>
      problemOf(`--${name}`, 'is decided by the Foldgate that runs already', suggestion),
    )
    return complain(context, told)
  }
  const loaded = await loadSettings(context)
  const settings = loaded.ok ? loaded.settings : loaded.valid
  // Whoever has the usual port may be anybody: what a program asks, and its key, go there only by the user's own word.
  const isNamed = flagOrVariable('port', context.flags, context.env) !== null
  const own = await findRunning(context, isNamed ? settings.port : null)
  const running = own ?? (isNamed ? await atPort(settings) : null)
  if (running === null) {
    const message = isNamed
      ? `no Foldgate runs at ${addressOf(settings)}`
      : 'no Foldgate of yours runs, by its own word'
    const advice = 'start one (npx foldgate), name the port of another with --port, or leave --attach out'
    return complain(context, [problemOf('--attach', message, advice)])
  }
  const token = loaded.ok ? (loaded.settings.admin.token?.reveal() ?? null) : null
  tellMissingModel(context, running.behind)
  try {
    const additions = await additionsFor(context, running.behind, running.origin)
    if (context.flags.print === true) return say(context, printed(additions))
    context.stderr.write(`foldgate: ${attachedTo(running, own !== null)}\n`)
    const before = await figuresOf(running, token)
    const end = await startWith(context, additions)
    if (end.kind === 'not-started') {
      complain(context, [end.message])
      return end.code
    }
    const after = await figuresOf(running, token)
    context.stderr.write(`${linesFor(running, before, after, hasQuit(end.code, context)).join('\n')}\n`)
    return end.code
  } catch (error) {
    if (error instanceof LaunchError) return complain(context, [error.message])
    throw error
  }
}

// --- internal ---

const ownFlags = [
  'upstream',
  'profile',
  'profiles',
  'store',
  'admin-port',
  'log-level',
] as const satisfies FlagName[]

type Found = Omit<RunningFoldgate, 'secret'>

/** One that could not say that it runs, or runs as another user. What is behind it nobody has told. */
async function atPort(address: ListenAddress): Promise<Found | null> {
  const origin = addressOf(onThisMachine(address))
  if (!(await answers(origin))) return null
  const behind = { messagesPath: '', isAnthropic: false, isOneServer: true, chatGptPath: null }
  return { origin, admin: null, addresses: {}, behind }
}

/** What has been counted there so far; null where that is not to be had. */
async function figuresOf({ admin }: Found, token: string | null): Promise<RunFigures | null> {
  if (admin === null) return null
  const headers: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` }
  try {
    const answer = await fetch(`${admin}metrics`, { headers, signal: AbortSignal.timeout(ANSWER_MS) })
    return answer.ok ? readFigures(await answer.text()) : null
  } catch {
    return null
  }
}

const ANSWER_MS = 3_000

function attachedTo({ origin, addresses }: Found, isOwn: boolean): string {
  const forwardsTo = addresses['default']
  if (forwardsTo !== undefined) return `attached to ${origin}, which forwards to ${forwardsTo}`
  if (isOwn) return `attached to ${origin}`
  return `attached to ${origin}, found by its port alone: whose it is and where it forwards to is not known`
}

function linesFor(
  { admin, origin, addresses }: Found,
  before: RunFigures | null,
  after: RunFigures | null,
  isQuit: boolean,
): readonly string[] {
  const seen =
    admin === null
      ? `the Foldgate at ${origin} goes on.`
      : `to see what was done, message by message: ${admin}, as long as that Foldgate runs.`
  if (before === null || after === null)
    return [`foldgate: ended; what came through is known to that one only.`, `foldgate: ${seen}`]
  return closingLines(figuresBetween(before, after), {
    seen,
    goesOn: false,
    isQuit,
    addresses: new Map(Object.entries(addresses)),
  })
}
