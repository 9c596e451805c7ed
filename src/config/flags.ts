import { parseArgs } from 'node:util'
import { nearest } from '../profiles/nearest.ts'
import { problemOf, type Problem } from './problem.ts'
import { defaultUpstreamUrl } from './settings-schema.ts'

/** What `foldgate` can be told to do, with what `--help` says of it. */
export const commands = {
  serve: { usage: 'foldgate [serve]', meaning: 'Run the proxy.' },
  demo: {
    usage: 'foldgate demo [--upstream URL --model NAME]',
    meaning: 'Show a long conversation pass through Foldgate; without flags against an upstream of its own.',
  },
  check: {
    usage: 'foldgate check [--model NAME]',
    meaning: 'Validate settings and profiles; say which profile and window a model gets.',
  },
  explain: {
    usage: 'foldgate explain [FILE] [--profile NAME] [--model NAME] [--json]',
    meaning:
      'Say what would be sent for a request body and why, message by message; - or no file: standard input.',
  },
  health: { usage: 'foldgate health', meaning: 'Ask a running Foldgate whether it is up; for containers.' },
  purge: {
    usage: 'foldgate purge [--conversation ID]',
    meaning: 'Delete what the store holds: everything, or the records of one conversation.',
  },
} as const

export type CommandName = keyof typeof commands

/** A flag of the command line, with its environment variable and the setting that it overrides. */
export type Flag = {
  readonly name: string
  readonly short: string | null
  /** What stands for its value in help and documents; null for a switch. */
  readonly value: string | null
  readonly environment: string | null
  /** The key of foldgate.yaml that it overrides; null for one that is none. */
  readonly setting: readonly string[] | null
  /** Whether a setting is a whole number. */
  readonly numeric: boolean
  /** The default where no key of foldgate.yaml has it. */
  readonly defaultText: string | null
  /** The only commands that take it; null: all but `demo`. */
  readonly commands: readonly CommandName[] | null
  readonly meaning: string
}

/** All flags: the source of parsing, `--help` and docs/configuration.md. */
export const flags = [
  setting('upstream', 'URL', ['upstreams', 'default', 'url'], 'Where requests go.', {
    defaultText: `\`${defaultUpstreamUrl}\``,
  }),
  setting('host', 'HOST', ['host'], 'Address to listen on; the container sets 0.0.0.0.'),
  setting('port', 'PORT', ['port'], 'Port to listen on.', { numeric: true }),
  setting('admin-host', 'HOST', ['admin', 'host'], 'Address of the admin listener.'),
  setting('admin-port', 'PORT', ['admin', 'port'], 'Port of the admin listener; 0 turns it off.', {
    numeric: true,
  }),
  setting('profiles', 'DIR', ['profiles'], 'Folder of profiles, watched for changes.', {
    defaultText: '`profiles/` beside foldgate.yaml, then the built-in ones',
  }),
  setting('store', 'URL', ['store', 'url'], 'Where decisions and summaries are kept.'),
  setting('log-level', 'LEVEL', ['log_level'], 'Least important lines that are logged.'),
  {
    ...plain('config', 'FILE', 'Settings file.'),
    environment: 'FOLDGATE_CONFIG',
    defaultText: '`./foldgate.yaml` if there',
  },
  { ...plain('model', 'NAME', 'Model to ask about, or to use.'), commands: ['check', 'demo', 'explain'] },
  { ...plain('profile', 'NAME', 'Profile to ask about.'), commands: ['explain'] },
  { ...plain('json', null, 'Print JSON.'), commands: ['explain'] },
  {
    ...plain('conversation', 'ID', 'The conversation, as x-foldgate-conversation names it.'),
    commands: ['purge'],
  },
  { ...plain('version', null, 'Print the version.'), short: 'v' },
  { ...plain('help', null, 'Print the help.'), short: 'h' },
] as const satisfies readonly Flag[]

export type FlagName = (typeof flags)[number]['name']

/** The flags that were given, by name; a switch is true. */
export type FlagValues = Readonly<Partial<Record<FlagName, string | true>>>

export type ParsedArguments = {
  readonly command: CommandName
  readonly flags: FlagValues
  /** The file that `explain` is to read; null where none is named. */
  readonly file: string | null
  /** Everything that was not understood, each with what to do. */
  readonly problems: readonly Problem[]
}

/** Reads the arguments after the program's name. Never throws; all problems are listed at once. */
export function parseArguments(argv: readonly string[]): ParsedArguments {
  const { tokens } = parseArgs({
    args: [...argv],
    options: Object.fromEntries(flags.map((flag) => [flag.name, parserOption(flag)])),
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const problems: Problem[] = []
  const given = new Map<FlagName, string | true>()
  const words: string[] = []
  let strayAt = -1
  for (const token of tokens) {
    if (token.kind === 'option-terminator') continue
    if (token.kind === 'positional') {
      // The word after an unknown flag is that flag's value rather than a command.
      if (token.index !== strayAt || isCommand(token.value)) words.push(token.value)
      continue
    }
    const flag = flags.find(({ name }) => name === token.name)
    if (flag === undefined) {
      problems.push(unknownFlag(token.rawName))
      if (token.inlineValue !== true) strayAt = token.index + 1
      continue
    }
    const problem = valueProblem(flag, token.value, token.inlineValue === true)
    if (problem !== null) problems.push(problem)
    else given.set(flag.name, token.value ?? true)
  }
  const [first, ...rest] = words
  const command = first !== undefined && isCommand(first) ? first : 'serve'
  if (first !== undefined && !isCommand(first)) problems.push(unknownCommand(first))
  const [file = null, ...left] = command === 'explain' ? rest : [null, ...rest]
  problems.push(...left.map((word) => problemOf(command, `takes no argument ${JSON.stringify(word)}`, null)))
  for (const name of given.keys()) {
    const problem = placeProblem(name, command)
    if (problem !== null) problems.push(problem)
  }
  return { command, flags: Object.fromEntries(given), file, problems }
}

// --- internal ---

function setting<const Name extends string>(
  name: Name,
  value: string,
  path: readonly string[],
  meaning: string,
  rest: { readonly numeric?: boolean; readonly defaultText?: string } = {},
) {
  return {
    ...plain(name, value, meaning),
    environment: `FOLDGATE_${name.toUpperCase().replaceAll('-', '_')}`,
    setting: path,
    numeric: rest.numeric ?? false,
    defaultText: rest.defaultText ?? null,
  }
}

function plain<const Name extends string>(name: Name, value: string | null, meaning: string) {
  return {
    name,
    short: null,
    value,
    environment: null,
    setting: null,
    numeric: false,
    defaultText: null,
    commands: null,
    meaning,
  }
}

function parserOption(flag: Flag): { type: 'string' | 'boolean'; short?: string } {
  const type = flag.value === null ? 'boolean' : 'string'
  return flag.short === null ? { type } : { type, short: flag.short }
}

function isCommand(word: string): word is CommandName {
  return Object.hasOwn(commands, word)
}

function valueProblem(flag: Flag, value: string | undefined, inline: boolean): Problem | null {
  const source = `--${flag.name}`
  if (flag.value === null)
    return value === undefined ? null : problemOf(source, 'takes no value', `write ${source}`)
  const isFlagLike = value !== undefined && !inline && value.startsWith('-')
  if (value !== undefined && value !== '' && !isFlagLike) return null
  return problemOf(source, 'needs a value', `write ${source} ${flag.value}`)
}

function placeProblem(name: FlagName, command: CommandName): Problem | null {
  const flag: Flag | undefined = flags.find((each) => each.name === name)
  if (flag === undefined || name === 'help' || name === 'version') return null
  if (flag.commands === null && (command !== 'demo' || name === 'upstream')) return null
  if (flag.commands?.includes(command) === true) return null
  const takers = flag.commands ?? Object.keys(commands).filter((each) => each !== 'demo')
  return problemOf(`--${name}`, `is no flag of "${command}"`, `it belongs to ${takers.join(', ')}`)
}

function unknownFlag(rawName: string): Problem {
  const near = nearest(
    rawName.replace(/^-+/, ''),
    flags.map(({ name }) => name),
  )
  return problemOf(
    rawName,
    'unknown flag',
    near === null ? 'foldgate --help lists all' : `did you mean --${near}?`,
  )
}

function unknownCommand(word: string): Problem {
  const near = nearest(word, Object.keys(commands))
  const advice = near === null ? 'foldgate --help lists all' : `did you mean "${near}"?`
  return problemOf(JSON.stringify(word), 'unknown command', advice)
}
