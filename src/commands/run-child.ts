import { readFile } from 'node:fs/promises'
import { childEnvironment } from '../launch/child-environment.ts'
import { findProgram } from '../launch/find-program.ts'
import type { Additions, Way } from '../launch/known-program.ts'
import { runChild, type ChildEnd } from '../launch/start-child.ts'
import { flagText, type CommandContext } from './command.ts'

/** What the command is started with. Throws a `LaunchError`. */
export function additionsFor(
  { env, flags, program }: CommandContext,
  destinations: Pick<Way, 'messagesPath' | 'isAnthropic' | 'isOneServer'>,
  origin: string,
): Promise<Additions> {
  const way = { ...destinations, origin, model: flagText(flags, 'model') }
  return findProgram(program).program.additions(way, { env, readText })
}

/** Starts the command with what it is given, and waits for its end. */
export function startWith(context: CommandContext, additions: Additions): Promise<ChildEnd> {
  const { program, env, cwd, hasTerminal, onSignal } = context
  const at = findProgram(program).ownArgumentsAt
  const command = [...program.slice(0, at), ...additions.args, ...program.slice(at)]
  return runChild({ command, env: childEnvironment(env, additions), cwd, hasTerminal, onSignal })
}

// --- internal ---

/** What is not there, or not to be read, says nothing. */
function readText(path: string): Promise<string | null> {
  return readFile(path, 'utf8').catch(() => null)
}
