import { z } from 'zod'
import type { Environment } from '../../config/api-keys.ts'

/** What a program has to know of the servers behind a Foldgate. */
export const behindSchema = z.object({
  /**
   * The path there, without a version, under which the Messages API is reached; empty for the root. Empty too where none
   * is: there, requests of that API would reach OpenAI's server.
   */
  messagesPath: z.string(),
  /** Whether that leads to Anthropic's own servers. */
  isAnthropic: z.boolean(),
  /** Whether one server was named for everything; else requests go where the vendors are, or the environment said. */
  isOneServer: z.boolean(),
  /** The path there under which ChatGPT's server for Codex is reached; null where it is not. */
  chatGptPath: z.string().nullable(),
})

export type Behind = z.output<typeof behindSchema>

/** Where the Foldgate of a run is, and what is known of the servers behind it. */
export type Way = Behind & {
  /** Scheme, host and port. */
  readonly origin: string
  /** The model that the command line names; null if it names none. */
  readonly model: string | null
  /** The window that requests will meet, in tokens; null where it is not known beforehand. */
  readonly windowTokens: number | null
}

/** What a program finds when it is started. */
export type LaunchPlace = {
  readonly env: Environment
  readonly cwd: string
  /** Its own arguments. */
  readonly args: readonly string[]
  /** A folder of this run alone, in which files may be laid for the program. */
  readonly folder: string
  /** The text of a file of the user's; null where there is none that can be read. */
  readonly readText: (path: string) => Promise<string | null>
}

/** What a program is started with beside what it would have had. */
export type Additions = {
  /** Variables of its environment, which replace those of the same name. */
  readonly env?: Readonly<Record<string, string>>
  /** Arguments that come before its own. */
  readonly args?: readonly string[]
  /** Texts of files that are there as long as it runs, by their paths. */
  readonly files?: Readonly<Record<string, string>>
  /** Variables as they may be shown, where they hold what is the user's own. */
  readonly shown?: Readonly<Record<string, string>>
  /** Why variables are set, by their names, where name and value do not say it. */
  readonly reasons?: Readonly<Record<string, string>>
}

/** How a program is called. */
export type ProgramNames = {
  readonly name: string
  /** As it is typed. */
  readonly commands: readonly string[]
  /** Its packages, as a runner of packages is told them, or as they lie in a folder. */
  readonly packages: readonly string[]
}

/** A program that is known by its name: how it is told where its requests go. */
export type KnownProgram = ProgramNames & {
  /** Variables that it sets itself, from settings of its own, over those of its environment. Default: none. */
  readonly ownVariables?: (place: LaunchPlace) => Promise<Environment>
  /** Whether it may ask a provider of its own, past the one server, since nobody has named a model of that. Default: no. */
  readonly lacksModel?: (way: Pick<Way, 'isOneServer' | 'model'>, place: LaunchPlace) => boolean
  /** Whether its additions depend on the window, which takes a while to find. Default: no. */
  readonly asksWindow?: boolean
  /** Throws a `LaunchError` where what the user has set cannot be read. */
  readonly additions: (way: Way, place: LaunchPlace) => Promise<Additions>
}

/** Why a command is not started, and the exit code of that. The message says what to do. */
export class LaunchError extends Error {
  override readonly name = 'LaunchError'
  readonly exitCode: number

  constructor(message: string, exitCode = 1) {
    super(message)
    this.exitCode = exitCode
  }
}

/** The model and key that a program has to be told of to be led anywhere. Throws a `LaunchError` where there are none. */
export function servedModel(name: string, { model, isOneServer }: Way, env: Environment) {
  const key = (env['OPENAI_API_KEY'] ?? '').trim()
  if (model !== null && (isOneServer || key !== '')) return { model, key: key === '' ? placeholderKey : key }
  throw new LaunchError(
    `${name} asks its own service unless it is told of a server and a model: write foldgate run --upstream URL --model NAME -- COMMAND`,
  )
}

/** The base URL of the OpenAI APIs. */
export function openAiUrl({ origin }: Way): string {
  return `${origin}/v1`
}

/** The base URL of the Messages API: without the version, which its clients add. */
export function messagesUrl({ origin, messagesPath }: Way): string {
  return origin + messagesPath
}

/** A quarter of a small window, in tokens, for a reply; null where programs ask for no more, or it is not known. */
export function replyTokensMax({ windowTokens }: Pick<Way, 'windowTokens'>): number | null {
  const quarter = Math.floor((windowTokens ?? Infinity) / 4)
  return quarter < USUAL_REPLY_TOKENS ? quarter : null
}

/** A variable that says so, where it has not been set. */
export function replyVariable(name: string, way: Way, env: Environment): Record<string, string> {
  const tokens = replyTokensMax(way)
  return tokens === null || isSet(env, name) ? {} : { [name]: `${tokens}` }
}

/** What programs keep free for a reply where nothing tells them otherwise, in tokens. */
export const USUAL_REPLY_TOKENS = 32_000

/** A window that no program compacts for by itself: what fits is seen to here. */
export const ENDLESS_TOKENS = 1_000_000

/** Why a program is told of such a window. */
export const endlessReason =
  "not the model's window, which Foldgate finds out and keeps to: so large that the program does not compact by itself"

/** Whether a variable is set, and to something. */
export function isSet(env: Environment, name: string): boolean {
  return (env[name] ?? '').trim() !== ''
}

/** Whether arguments have this option, with its value behind it or in it. */
export function hasOption(args: readonly string[], option: string): boolean {
  return args.some((word) => word === option || word.startsWith(`${option}=`))
}

/** A key for servers that want none: their clients do. */
export const placeholderKey = 'none'

/** Why such a key is set. */
export const placeholderReason = 'no key is set, and the program wants one: local servers want none'

/** A key's variable, where the environment has none and the one server that was named may need none. */
export function keyIfNone(name: string, { isOneServer }: Way, env: Environment): Record<string, string> {
  return isOneServer && !isSet(env, name) ? { [name]: placeholderKey } : {}
}

/**
 * What a command would be started with: a variable a line, under the reason for it where there is one, as a shell's
 * comment; then files, and the arguments, each as a shell takes it. They are to be those for `withoutKey`.
 */
export function printed(additions: Additions): string {
  const { env = {}, args = [], files = {}, shown = {}, reasons = {} } = additions
  const set = Object.entries(env).flatMap(([name, value]) => {
    const line = `${name}=${shown[name] ?? value}`
    return reasons[name] === undefined ? [line] : [`# ${reasons[name]}`, line]
  })
  const laid = Object.entries(files).map(([path, text]) => `file ${path}: ${text.trim()}`)
  const added = args.length === 0 ? [] : [`arguments before its own: ${args.map(quoted).join(' ')}`]
  return [...set, ...laid, ...added].join('\n')
}

/** An environment whose key may be shown: its variable's name stands for it. */
export function withoutKey(env: Environment): Environment {
  return isSet(env, 'OPENAI_API_KEY') ? { ...env, OPENAI_API_KEY: '$OPENAI_API_KEY' } : env
}

// --- internal ---

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}
