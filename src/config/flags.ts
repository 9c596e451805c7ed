import { parseArgs } from 'node:util'
import { nearest } from '../profiles/near-miss.ts'
import { type Problem, problemOf } from './problem.ts'
import { defaultPort, defaultUpstreamUrl } from './settings-schema.ts'

/** A command, with what `--help` says of it. */
type CommandFacts = {
  readonly usage: string
  readonly meaning: string
  /** The exit code where the command line cannot be understood. Default: 1. */
  readonly misusedCode?: number
}

const allCommands = {
  serve: { usage: 'foldgate [serve]', meaning: 'Run the proxy.' },
  run: {
    usage: 'foldgate run [options] -- COMMAND …',
    meaning: 'Start a program with a Foldgate of its own in front of its model, and end with it.',
  },
  demo: {
    usage: 'foldgate demo [--dialect NAME] [--upstream URL --model NAME]',
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
  compare: {
    usage: 'foldgate compare FILE|FOLDER … [--window N] [--model NAME] [--yes]',
    meaning:
      'Ask your model at recorded moments in full and compacted, and say how often its next step differs for it.',
  },
  status: {
    usage: 'foldgate status [--json]',
    meaning:
      'Say whether all is well with a running Foldgate (exit code 0), or what is not, and what to do (1); 2 if none can be asked.',
    misusedCode: 2,
  },
  health: { usage: 'foldgate health', meaning: 'Ask a running Foldgate whether it is up; for containers.' },
  purge: {
    usage: 'foldgate purge [--conversation ID]',
    meaning: 'Delete what the store holds: everything, or the records of one conversation.',
  },
} as const satisfies Readonly<Record<string, CommandFacts>>

export type CommandName = keyof typeof allCommands

/** The commands of `foldgate`. */
export const commands: Readonly<Record<CommandName, CommandFacts>> = allCommands

/** Those that make a Foldgate, or say what one would do. */
const foldgates = ['serve', 'run', 'check', 'explain', 'compare'] as const satisfies readonly CommandName[]

/** A flag of the command line, with its environment variable and the setting that it overrides. */
export type Flag<Name extends string = FlagName> = {
  readonly name: Name
  readonly meaning: string
  readonly short?: string
  /** The placeholder of its value in help and documents; a switch has none. */
  readonly value?: string
  readonly environment?: string
  /** The key of foldgate.yaml that it overrides. */
  readonly setting?: readonly string[]
  /** Whether the setting is a whole number. */
  readonly numeric?: boolean
  /** The default, if it is not that of a key of foldgate.yaml. */
  readonly defaultText?: string
  /** What to do if it is given to a command that does not take it. Default: to use one that does. */
  readonly instead?: string
  /** The commands that take it. Default: all. */
  readonly commands?: readonly CommandName[]
}

const allFlags = [
  setting('upstream', 'URL', ['upstreams', 'default', 'url'], 'Where requests go.', {
    defaultText: `\`${defaultUpstreamUrl}\`; with \`demo\` an upstream of its own`,
    commands: [...foldgates, 'demo'],
  }),
  setting('host', 'HOST', ['host'], 'Address that is listened on; the container sets 0.0.0.0.', {
    commands: ['serve', 'check', 'explain', 'health'],
  }),
  setting('port', 'PORT', ['port'], 'Port that is listened on.', {
    numeric: true,
    defaultText: `\`${defaultPort}\`; with \`run\` any free one`,
    commands: [...foldgates, 'status', 'health'],
  }),
  setting('admin-host', 'HOST', ['admin', 'host'], 'Address of the page, with metrics and journal.', {
    commands: [...foldgates, 'status'],
  }),
  setting(
    'admin-port',
    'PORT',
    ['admin', 'port'],
    'Port of the page; 0: no page. `run` takes a free one where it is taken.',
    { numeric: true, commands: [...foldgates, 'status'] },
  ),
  setting('profiles', 'DIR', ['profiles'], 'Folder of profiles, watched for changes.', {
    defaultText: '`profiles/` beside foldgate.yaml, then the built-in ones',
    commands: foldgates,
  }),
  setting('store', 'URL', ['store', 'url'], 'Where decisions and summaries are kept.', {
    defaultText: '`sqlite:`, a file in the state directory of your system',
    commands: [...foldgates, 'purge'],
  }),
  setting(
    'log-level',
    'LEVEL',
    ['log_level'],
    'Least important lines that are logged; `run` logs if asked.',
    {
      commands: foldgates,
    },
  ),
  {
    name: 'config',
    value: 'FILE',
    meaning: 'Settings file.',
    environment: 'FOLDGATE_CONFIG',
    defaultText: '`./foldgate.yaml` if there',
    commands: [...foldgates, 'status', 'health', 'purge'],
  },
  asked('model', 'NAME', ['run', 'check', 'demo', 'explain', 'compare'], 'Model to ask about, or to use.'),
  asked(
    'dialect',
    'NAME',
    ['demo'],
    'How the conversation is written: `chat-completions`, `responses`, `messages` or `ollama`.',
    '`chat-completions`',
  ),
  asked(
    'profile',
    'NAME',
    ['run', 'explain', 'compare'],
    'Profile of all requests (run, compare), or to ask about (explain).',
  ),
  { name: 'attach', meaning: 'Use the Foldgate that runs already.', commands: ['run'] },
  { name: 'keep', meaning: 'Go on after the command has ended, until Ctrl-C.', commands: ['run'] },
  { name: 'print', meaning: 'Only print what the command would be started with.', commands: ['run'] },
  { name: 'json', meaning: 'Print JSON.', commands: ['explain', 'compare', 'status'] },
  {
    ...asked('window', 'N', ['compare'], 'Window to compact for, in tokens.', 'that of the profile'),
    instead: 'a window is set in a profile: write window: {tokens: N} into profiles/default.yaml',
  },
  asked('pairs', 'N', ['compare'], 'Moments to compare, of three requests each.', '`60`'),
  asked('max-output', 'N', ['compare'], 'Most tokens of a reply.', '`512`'),
  asked('seed', 'N', ['compare'], 'Draws other moments.', '`1`'),
  asked(
    'state',
    'FILE',
    ['compare'],
    'What was answered, as hashes and verdicts; an interrupted run goes on from it.',
    '`foldgate-compare.jsonl`',
  ),
  { name: 'yes', meaning: 'Send it: without, only what would be sent is told.', commands: ['compare'] },
  asked('conversation', 'ID', ['purge'], 'The conversation, as x-foldgate-conversation names it.'),
  { name: 'version', short: 'v', meaning: 'Print the version.' },
  { name: 'help', short: 'h', meaning: 'Print the help.' },
] as const satisfies readonly Flag<string>[]

export type FlagName = (typeof allFlags)[number]['name']

/** All flags: the source of parsing, `--help` and docs/configuration.md. */
export const flags: readonly Flag[] = allFlags

/** Whether a command takes a flag. */
export function takesFlag(command: CommandName, { commands: takers }: Flag): boolean {
  return takers === undefined || takers.includes(command)
}

/** The flags that were given, by name; a switch is true. */
export type FlagValues = Readonly<Partial<Record<FlagName, string | true>>>

export type ParsedArguments = {
  readonly command: CommandName
  readonly flags: FlagValues
  /** What `explain` and `compare` are to read. */
  readonly files: readonly string[]
  /** The program that `run` is to start, and its arguments; empty for other commands. */
  readonly program: readonly string[]
  /** Everything that was not understood. */
  readonly problems: readonly Problem[]
}

/**
 * Reads the arguments after the program's name; `programs` are the names of those that `run` knows. Never throws; all
 * problems are listed at once.
 */
export function parseArguments(argv: readonly string[], programs: readonly string[] = []): ParsedArguments {
  const { tokens } = parseArgs({
    args: [...argv],
    options: parserOptions,
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const problems: Problem[] = []
  const given = new Map<FlagName, string | true>()
  const words: string[] = []
  let program: readonly string[] = []
  let strayAt = -1
  for (const token of tokens) {
    if (token.kind === 'option') {
      const flag = flags.find(({ name }) => name === token.name)
      const problem =
        flag === undefined ? unknownFlag(token.rawName) : valueProblem(flag, token.value, token.inlineValue)
      if (problem !== null) problems.push(problem)
      else if (flag !== undefined) given.set(flag.name, token.value ?? true)
      // The word after an unknown flag is that flag's value rather than a command.
      if (flag === undefined && token.inlineValue !== true) strayAt = token.index + 1
    } else if (words[0] === 'run') {
      // What the program is given is the program's, flags and all. The two dashes may be left out.
      if (token.index === strayAt && token.kind === 'positional') continue
      program = argv.slice(token.kind === 'positional' ? token.index : token.index + 1)
      break
    } else if (token.kind === 'positional' && (token.index !== strayAt || isCommand(token.value)))
      words.push(token.value)
  }
  if (words[0] === 'help') {
    given.set('help', true)
    words.shift()
  }
  const [first = 'serve', ...rest] = words
  if (!isCommand(first)) {
    const { problem, isProgram } = unknownCommand(first, programs)
    // What stands behind it was meant for what it should have been: a program's own flags are no fault.
    const told = isProgram ? [problem] : [...problems, problem]
    return { command: 'serve', flags: Object.fromEntries(given), files: [], program, problems: told }
  }
  if (first === 'run' && program.length === 0 && !given.has('help') && !given.has('version'))
    problems.push(problemOf('run', 'names no program to start', 'write foldgate run -- claude'))
  const filesMax = first === 'compare' ? Infinity : first === 'explain' ? 1 : 0
  const advice = first === 'check' || first === 'demo' ? 'a model is named by --model NAME' : null
  for (const word of rest.slice(filesMax))
    problems.push(problemOf(first, `takes no argument ${JSON.stringify(word)}`, advice))
  for (const flag of flags) {
    if (!given.has(flag.name) || takesFlag(first, flag)) continue
    const belongs = flag.instead ?? `it belongs to ${flag.commands?.join(', ')}`
    problems.push(problemOf(`--${flag.name}`, `is no flag of "${first}"`, belongs))
  }
  return {
    command: first,
    flags: Object.fromEntries(given),
    files: rest.slice(0, filesMax),
    program,
    problems,
  }
}

// --- internal ---

function setting<const Name extends string>(
  name: Name,
  value: string,
  path: readonly string[],
  meaning: string,
  more: Partial<Flag<Name>> = {},
): Flag<Name> {
  const environment = `FOLDGATE_${name.toUpperCase().replaceAll('-', '_')}`
  return { name, value, meaning, environment, setting: path, ...more }
}

/** A flag that sets nothing, for these commands. */
function asked<const Name extends string>(
  name: Name,
  value: string,
  takers: readonly CommandName[],
  meaning: string,
  defaultText?: string,
): Flag<Name> {
  return { name, value, meaning, commands: takers, ...(defaultText !== undefined && { defaultText }) }
}

function isCommand(word: string): word is CommandName {
  return Object.hasOwn(commands, word)
}

function unknownFlag(rawName: string): Problem {
  const names = flags.map(({ name }) => name)
  const near = nearest(rawName.replace(/^-+/, ''), names)
  return problemOf(rawName, 'unknown flag', near === null ? listed : `did you mean --${near}?`)
}

function unknownCommand(word: string, programs: readonly string[]) {
  const near = nearest(word, [...Object.keys(commands), 'help', ...programs])
  const isProgram = near !== null && programs.includes(near)
  const meant = isProgram ? `foldgate run -- ${near}` : `"${near}"`
  const advice = near === null ? listed : `did you mean ${meant}?`
  return { problem: problemOf(JSON.stringify(word), 'unknown command', advice), isProgram }
}

const listed = 'foldgate --help lists all'

/** Null if the flag may have this value. */
function valueProblem(flag: Flag, value: string | undefined, inline: boolean | undefined): Problem | null {
  const source = `--${flag.name}`
  if (flag.value === undefined)
    return value === undefined ? null : problemOf(source, 'takes no value', `write ${source}`)
  const isFlagLike = value !== undefined && inline !== true && value.startsWith('-')
  if (value !== undefined && value !== '' && !isFlagLike) return null
  return problemOf(source, 'needs a value', `write ${source} ${flag.value}`)
}

const parserOptions = Object.fromEntries(
  flags.map(({ name, value, short }) => [
    name,
    { type: value === undefined ? 'boolean' : 'string', ...(short !== undefined && { short }) } as const,
  ]),
)
