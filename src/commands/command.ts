import { commands, type FlagValues } from '../config/flags.ts'
import type { ConfigurationOptions } from '../config/configuration.ts'
import type { Secret } from '../config/secret.ts'
import { formatProblem, type Problem } from '../config/problem.ts'

/** What a command needs of the process: commands do not read `process` themselves. */
export type CommandContext = ConfigurationOptions & {
  /** The files and folders that the arguments name. */
  readonly files: readonly string[]
  /** The program that `run` is to start, and its arguments. */
  readonly program: readonly string[]
  /** How its user starts Foldgate again, such as `npx foldgate`. */
  readonly startedAs: string
  /** The process's own. */
  readonly pid: number
  /** Whether one of its streams is a terminal, whose keys signal to its children as well. */
  readonly hasTerminal: boolean
  readonly platform: string
  /** Foldgate's own, such as `0.1.0`. */
  readonly version: string
  readonly stdin: () => NodeJS.ReadStream
  readonly stdout: NodeJS.WriteStream
  readonly stderr: NodeJS.WriteStream
  /** The container's limit of memory, in bytes; 0, or more than the machine has, if there is none. */
  readonly containerBytes: number
  readonly onSignal: (signal: NodeJS.Signals, listener: () => void) => void
  readonly exit: (code: number) => void
}

/** Runs a command. Resolves with the exit code. */
export type Command = (context: CommandContext) => Promise<number>

/** Prints a result, and returns the exit code. */
export function say({ stdout }: Pick<CommandContext, 'stdout'>, text: string): number {
  stdout.write(`${text}\n`)
  return 0
}

/** Prints what is wrong, and returns the exit code. */
export function complain(
  { stderr, startedAs }: Pick<CommandContext, 'stderr' | 'startedAs'>,
  problems: readonly (string | Problem)[],
): number {
  const lines = problems.map((each) =>
    asStarted(typeof each === 'string' ? each : formatProblem(each), startedAs),
  )
  stderr.write(`${lines.join('\n')}\n`)
  return 1
}

/** @internal exported for tests. The message, with Foldgate's commands as their user starts them. */
export const asStarted = (message: string, startedAs: string): string =>
  message.replaceAll(ownCommand, `${startedAs} `)

/** Not at the beginning or before a colon, where it says who speaks, nor within a path, nor before what is no command. */
const ownCommand = new RegExp(
  String.raw`(?<=[ (])foldgate (?=(?:--[a-z]+|${Object.keys(commands).join('|')})(?![\w:./\\]))`,
  'g',
)

/** Prints what the user should know beside the result. */
export function noteOn({ stderr }: Pick<CommandContext, 'stderr'>): (message: string) => void {
  return (message) => void stderr.write(`warning: ${message}\n`)
}

/** The value of a flag; null if it was not given. */
export function flagText(flags: FlagValues, name: keyof FlagValues): string | null {
  const value = flags[name]
  return typeof value === 'string' ? value : null
}

/** Asks a Foldgate at this URL, with the token of its admin listener where that is known. Rejects where it does not answer soon. */
export function askFoldgate(url: string, token: Secret | null = null): Promise<Response> {
  return fetch(url, {
    headers: {
      accept: 'application/json',
      ...(token !== null && { authorization: `Bearer ${token.reveal()}` }),
    },
    redirect: 'error',
    signal: AbortSignal.timeout(ANSWER_MS),
  })
}

/** How wide a line may be, in characters, and whether it may be coloured. */
export function paperOf({ stdout, env }: Pick<CommandContext, 'stdout' | 'env'>) {
  return { columns: stdout.columns ?? 100, color: stdout.isTTY && env['NO_COLOR'] === undefined }
}

// --- internal ---

/** How long an answer is waited for, in milliseconds. */
const ANSWER_MS = 3_000
