import { commands, flags, takesFlag, type CommandName, type Flag } from '../config/flags.ts'

/** What `--help` prints: all commands and flags; of `run`, which is typed every day, its own. */
export function help(command: CommandName): string {
  if (command === 'run') return [commands.run.usage, '', commands.run.meaning, '', ...runHelp].join('\n')
  return table([
    ...Object.values(commands).map(({ usage, meaning }) => [usage, meaning] as const),
    ['', ''],
    ...flags.map(rowOf),
  ])
}

// --- internal ---

const runHelp: readonly string[] = [
  'Options, which stand before the two dashes; what stands behind them is the program’s:',
  table(flags.filter((flag) => takesFlag('run', flag)).map(rowOf)),
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

function rowOf({ name, value, meaning }: Flag): readonly [string, string] {
  return [`--${name} ${value ?? ''}`, meaning]
}

function table(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width + 2)}${right}`.trimEnd()).join('\n')
}
