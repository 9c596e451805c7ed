import { isJsonObject } from '../json/json-value.ts'
import { settingsSchema } from '../config/settings-schema.ts'
import { commands, flags, takesFlag, type CommandName, type Flag } from '../config/flags.ts'

/** What `--help` prints of a command: its flags with their defaults; of `serve`, which needs no name, all commands as well. */
export function help(command: CommandName): string {
  const { usage, meaning } = commands[command]
  const begins = command === 'serve' ? allCommands : [usage, '', meaning]
  const own = table(flags.filter((flag) => takesFlag(command, flag)).map((flag) => rowOf(command, flag)))
  return [...begins, '', optionsOf[command] ?? 'Options:', own, ...(command === 'run' ? runHelp : [])].join(
    '\n',
  )
}

// --- internal ---

const allCommands: readonly string[] = [
  'Commands, each with a --help of its own:',
  table(Object.values(commands).map(({ usage, meaning }) => [usage, meaning] as const)),
]

const optionsOf: Partial<Record<CommandName, string>> = {
  serve: 'Options of serve:',
  run: 'Options, which stand before the two dashes; what stands behind them is the program’s:',
}

const runHelp: readonly string[] = [
  '',
  'Examples:',
  table([
    ['foldgate run -- claude', 'as it would run, with Foldgate in front of its model'],
    [
      'foldgate run --upstream http://127.0.0.1:11434/v1 --model qwen3:8b -- claude',
      'with a server of this machine',
    ],
    ['foldgate run --print -- codex', 'starts nothing, and shows what it would be given'],
  ]),
  '',
  'If no request comes through:',
  '  The program has an address of its own, in a settings file that goes before its environment.',
  '  It is signed in elsewhere: with a plan, or for a cloud such as Bedrock or Vertex.',
  '  It hands its work to a process that ran before, which has its own environment.',
]

function rowOf(command: CommandName, flag: Flag): readonly [string, string] {
  const { name, value, meaning } = flag
  const standard = defaultOf(command, flag)
  return [`--${name} ${value ?? ''}`, standard === null ? meaning : `${meaning} Default: ${standard}`]
}

/** Null where there is none: what a switch or a flag that sets nothing leaves alone. */
function defaultOf(command: CommandName, { defaultText, runDefaultText, setting }: Flag): string | null {
  const text = (command === 'run' ? runDefaultText : undefined) ?? defaultText
  if (text !== undefined) return text.replaceAll('`', '')
  let value: unknown = setting === undefined ? null : settingsSchema.parse({})
  for (const key of setting ?? []) value = isJsonObject(value) ? value[key] : null
  return value === null ? null : String(value)
}

function table(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width + 2)}${right}`.trimEnd()).join('\n')
}
