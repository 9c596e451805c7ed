import { valueAt } from '../profiles/issues.ts'
import { settingsSchema } from '../config/settings-schema.ts'
import { aligned } from '../telemetry/log/lines.ts'
import { commands, flags, takesFlag, type CommandName, type Flag } from '../config/flags.ts'

/** What `--help` prints of a command: its flags with their defaults; of `serve`, which needs no name, all commands as well. */
export function help(command: CommandName): string {
  const { usage, meaning } = commands[command]
  const all = table(Object.values(commands).map((each) => [each.usage, each.meaning] as const))
  const begins =
    command === 'serve' ? ['Commands, each with a --help of its own:', all] : [usage, '', meaning]
  const own = table(flags.filter((flag) => takesFlag(command, flag)).map(rowOf))
  return [...begins, '', `Options of ${command}:`, own, ...(command === 'run' ? runHelp : [])].join('\n')
}

// --- internal ---

const runHelp: readonly string[] = [
  '  They stand before the two dashes; what stands behind them is the program’s.',
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

function rowOf({ name, value, meaning, defaultText, setting }: Flag): readonly [string, string] {
  const standard = setting === undefined ? null : valueAt(settingsSchema.parse({}), setting)
  const told = defaultText ?? (typeof standard === 'number' ? String(standard) : standard)
  const text = typeof told === 'string' ? `${meaning} Default: ${told}` : meaning
  return [`--${name} ${value ?? ''}`, text.replaceAll('`', '')]
}

function table(rows: readonly (readonly [string, string])[]): string {
  const lines = aligned(rows, () => false)
  return lines.map((line) => `  ${line}`).join('\n')
}
