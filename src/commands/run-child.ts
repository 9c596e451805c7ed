import { readFile } from 'node:fs/promises'
import type { Environment } from '../config/keys.ts'
import { childEnvironment } from '../launch/child-environment.ts'
import { findProgram } from '../launch/find-program.ts'
import type { Additions, LaunchPlace } from '../launch/known-program.ts'
import type { Behind } from '../launch/vendors.ts'
import { runChild, type ChildEnd } from '../launch/start-child.ts'
import { flagText, type CommandContext } from './command.ts'

/** What the command is started with. Throws a `LaunchError`. */
export function additionsFor(context: CommandContext, behind: Behind, origin: string): Promise<Additions> {
  const way = { ...behind, origin, model: flagText(context.flags, 'model') }
  return findProgram(context.program).program.additions(way, placeOf(context))
}

/** The environment as the command sees it: some set variables of their own over it. */
export async function environmentOf(context: CommandContext): Promise<Environment> {
  const own = await findProgram(context.program).program.ownVariables?.(placeOf(context))
  return { ...context.env, ...own }
}

/** Says so where the command may go past the one server, since no model of that is named. */
export function tellMissingModel(context: CommandContext, { isOneServer }: Behind): void {
  const { program, flags, stderr } = context
  const found = findProgram(program)
  const way = { isOneServer, model: flagText(flags, 'model') }
  if (found.program.lacksModel?.(way, placeOf(context)) !== true) return
  const upstream = flagText(flags, 'upstream')
  const server = upstream === null ? '' : ` --upstream ${upstream}`
  const command = program.slice(0, found.ownArgumentsAt).join(' ')
  const line = `foldgate run${flags.attach === true ? ' --attach' : server} --model NAME -- ${command}${program.length > found.ownArgumentsAt ? ' …' : ''}`
  stderr.write(
    `foldgate: ${found.program.name} is told no model of this server, and may ask a provider of its own instead: write ${line}\n`,
  )
}

/** Starts the command with what it is given, and waits for its end. */
export function startWith(context: CommandContext, additions: Additions): Promise<ChildEnd> {
  const { program, env, cwd, hasTerminal, onSignal } = context
  const at = findProgram(program).ownArgumentsAt
  const command = [...program.slice(0, at), ...additions.args, ...program.slice(at)]
  return runChild({ command, env: childEnvironment(env, additions), cwd, hasTerminal, onSignal })
}

/** Whether a program with this exit code ended as one does that its user has quit: by Ctrl-C, or on a terminal without a fault. */
export function hasQuit(code: number, { hasTerminal }: Pick<CommandContext, 'hasTerminal'>): boolean {
  return code === INTERRUPTED || (code === 0 && hasTerminal)
}

// --- internal ---

/** As shells tell an end by SIGINT. */
const INTERRUPTED = 130

function placeOf({ program, env, cwd }: CommandContext): LaunchPlace {
  return { env, cwd, args: program.slice(findProgram(program).ownArgumentsAt), readText }
}

/** What is not there, or not to be read, says nothing. */
function readText(path: string): Promise<string | null> {
  return readFile(path, 'utf8').catch(() => null)
}
