import { expect, test } from 'vitest'
import { parseArguments } from '../../src/config/flags.ts'
import { formatProblem } from '../../src/config/problem.ts'

const parsed = (line: string) => parseArguments(line === '' ? [] : line.split(' '))

test.each([
  ['', {}],
  ['serve --port 80 --host=0.0.0.0', { flags: { port: '80', host: '0.0.0.0' } }],
  ['-h', { flags: { help: true } }],
  ['help', { flags: { help: true } }],
  ['--admin-port 0 check --model m', { command: 'check', flags: { 'admin-port': '0', model: 'm' } }],
  ['check --help', { command: 'check', flags: { help: true } }],
  ['demo --upstream http://h --model m', { command: 'demo', flags: { upstream: 'http://h', model: 'm' } }],
  [
    'purge --conversation a --store memory:',
    { command: 'purge', flags: { conversation: 'a', store: 'memory:' } },
  ],
  // The file that is to be read.
  ['explain body.json --json', { command: 'explain', flags: { json: true }, files: ['body.json'] }],
  ['explain --profile mine -', { command: 'explain', flags: { profile: 'mine' }, files: ['-'] }],
  ['compare a b --yes', { command: 'compare', flags: { yes: true }, files: ['a', 'b'] }],
  ['--model m explain', { command: 'explain', flags: { model: 'm' } }],
])('%j is read', (line, expected) => {
  expect(parsed(line)).toEqual({
    command: 'serve',
    flags: {},
    files: [],
    program: [],
    problems: [],
    ...expected,
  })
})

test.each([
  ['run -- claude --model m', {}, ['claude', '--model', 'm']],
  ['run --keep --model m -- npx -y @o/codex', { keep: true, model: 'm' }, ['npx', '-y', '@o/codex']],
  ['run claude --help', {}, ['claude', '--help']],
  ['run --upstream http://h aider -- --keep', { upstream: 'http://h' }, ['aider', '--', '--keep']],
  ['--log-level debug run -- run -- x', { 'log-level': 'debug' }, ['run', '--', 'x']],
])('%s: what is behind the dashes, or the first word, is the program’s', (line, flags, program) => {
  expect(parsed(line)).toEqual({ command: 'run', flags, files: [], program, problems: [] })
})

test.each(['help run', 'run --help', 'run --help -- claude'])(
  '%s asks for help, without a program',
  (line) => {
    expect(parsed(line)).toMatchObject({ command: 'run', flags: { help: true }, problems: [] })
  },
)

const UPSTREM = '--upstrem: unknown flag — did you mean --upstream?'

test.each([
  ['explain one two', 'explain: takes no argument "two"'],
  ['check --json', '--json: is no flag of "check" — it belongs to explain, compare, status'],
  ['--upstrem http://h', UPSTREM],
  ['--upstrem http://h check --port', UPSTREM, '--port: needs a value — write --port PORT'],
  ['--host --port', '--host: needs a value — write --host HOST'],
  ['cheek', '"cheek": unknown command — did you mean "check"?'],
  ['--help=yes', '--help: takes no value — write --help'],
  ['check it', 'check: takes no argument "it" — a model is named by --model NAME'],
  ['serve --model m', '--model: is no flag of "serve" — it belongs to run, check, demo, explain, compare'],
  ['--conversation abc', '--conversation: is no flag of "serve" — it belongs to purge'],
  [
    'demo --port 3',
    '--port: is no flag of "demo" — it belongs to serve, run, check, explain, compare, status, health',
  ],
  ['run', 'run: names no program to start — write foldgate run -- claude'],
  ['run --', 'run: names no program to start — write foldgate run -- claude'],
  ['run --uptsream x -- claude', '--uptsream: unknown flag — did you mean --upstream?'],
  ['run --json -- claude', '--json: is no flag of "run" — it belongs to explain, compare, status'],
])('%s is told', (line, ...problems) => {
  expect(parsed(line).problems.map(formatProblem)).toEqual(problems)
})

// It was answered with a second line that spoke of a command nobody had typed, and a program's flags with one each.
test.each([
  ['frobnicate run', '"frobnicate": unknown command — foldgate --help lists all'],
  ['claude --dangerously-skip', '"claude": unknown command — did you mean foldgate run -- claude?'],
  ['cluade -p hello', '"cluade": unknown command — did you mean foldgate run -- claude?'],
  ['chekc', '"chekc": unknown command — did you mean "check"?'],
  [
    '--window 8000',
    '--window: is no flag of "serve" — a window is set in a profile: write window: {tokens: N} into profiles/default.yaml',
  ],
])('%s is told in one line', (line, problem) => {
  expect(parseArguments(line.split(' '), ['claude']).problems.map(formatProblem)).toEqual([problem])
})
