import { expect, test } from 'vitest'
import { parseArguments } from '../../src/config/flags.ts'
import { formatProblem } from '../../src/config/problem.ts'

const problemsOf = (line: string) => parseArguments(line.split(' ')).problems.map(formatProblem)

test('without arguments it serves', () => {
  expect(parseArguments([])).toEqual({ command: 'serve', flags: {}, file: null, program: [], problems: [] })
})

test.each([
  ['serve --port 80 --host=0.0.0.0', 'serve', { port: '80', host: '0.0.0.0' }],
  ['--admin-port 0 check --model m', 'check', { 'admin-port': '0', model: 'm' }],
  ['demo --upstream http://h --model m', 'demo', { upstream: 'http://h', model: 'm' }],
  ['purge --conversation abc --store memory:', 'purge', { conversation: 'abc', store: 'memory:' }],
  ['-h', 'serve', { help: true }],
  ['check --help', 'check', { help: true }],
])('%s', (line, command, flags) => {
  expect(parseArguments(line.split(' '))).toEqual({ command, flags, file: null, program: [], problems: [] })
})

test.each([
  ['explain body.json --json', 'body.json', { json: true }],
  ['explain --profile mine -', '-', { profile: 'mine' }],
  ['--model m explain', null, { model: 'm' }],
])('%s names the file that is to be read', (line, file, flags) => {
  expect(parseArguments(line.split(' '))).toEqual({
    command: 'explain',
    flags,
    file,
    program: [],
    problems: [],
  })
})

test.each([
  ['explain one two', 'explain: takes no argument "two"'],
  ['check --json', '--json: is no flag of "check" — it belongs to explain'],
  ['--upstrem http://h', '--upstrem: unknown flag — did you mean --upstream?'],
  ['--upstrem http://h check --port', '--port: needs a value — write --port PORT'],
  ['--host --port', '--host: needs a value — write --host HOST'],
  ['cheek', '"cheek": unknown command — did you mean "check"?'],
  ['--help=yes', '--help: takes no value — write --help'],
  ['check it', 'check: takes no argument "it" — a model is named by --model NAME'],
  ['serve --model m', '--model: is no flag of "serve" — it belongs to run, check, demo, explain'],
  ['--conversation abc', '--conversation: is no flag of "serve" — it belongs to purge'],
  ['demo --port 3', '--port: is no flag of "demo" — it belongs to serve, run, check, explain, health, purge'],
])('%s is told', (line, problem) => {
  expect(problemsOf(line)).toContain(problem)
})

test.each([
  ['help', 'serve'],
  ['help run', 'run'],
  ['run --help', 'run'],
  ['run --help -- claude', 'run'],
])('%s asks for help', (line, command) => {
  expect(parseArguments(line.split(' '))).toMatchObject({ command, flags: { help: true }, problems: [] })
})

// It was answered with a second line that spoke of a command nobody had typed, and a program's flags with one each.
test.each([
  ['frobnicate run', '"frobnicate": unknown command — foldgate --help lists all'],
  ['claude --dangerously-skip', '"claude": unknown command — did you mean foldgate run -- claude?'],
  ['cluade -p hello', '"cluade": unknown command — did you mean foldgate run -- claude?'],
  ['chekc', '"chekc": unknown command — did you mean "check"?'],
  [
    '--window 32000',
    '--window: unknown flag — a window is set in a profile: write window: {tokens: 32000} into profiles/default.yaml, which is for all requests',
  ],
  [
    'run --context-length=8000 -- claude',
    '--context-length: unknown flag — a window is set in a profile: write window: {tokens: 8000} into profiles/default.yaml, which is for all requests',
  ],
])('%s is told in one line', (line, problem) => {
  const { problems } = parseArguments(line.split(' '), {
    isNamed: (word) => word === 'claude',
    commands: ['claude'],
  })
  expect(problems.map(formatProblem)).toEqual([problem])
})

test.each([
  ['run -- claude --model m', {}, ['claude', '--model', 'm']],
  [
    'run --keep --model m -- npx -y @openai/codex exec',
    { keep: true, model: 'm' },
    ['npx', '-y', '@openai/codex', 'exec'],
  ],
  ['run claude --help', {}, ['claude', '--help']],
  ['run --upstream http://h aider -- --keep', { upstream: 'http://h' }, ['aider', '--', '--keep']],
  ['--log-level debug run -- run -- x', { 'log-level': 'debug' }, ['run', '--', 'x']],
])('%s: what is behind the dashes, or the first word, is the program’s', (line, flags, program) => {
  expect(parseArguments(line.split(' '))).toEqual({
    command: 'run',
    flags,
    file: null,
    program,
    problems: [],
  })
})

test.each([
  ['run', 'run: names no program to start — write foldgate run -- claude'],
  ['run --', 'run: names no program to start — write foldgate run -- claude'],
  ['run --uptsream x -- claude', '--uptsream: unknown flag — did you mean --upstream?'],
  ['run --json -- claude', '--json: is no flag of "run" — it belongs to explain'],
])('%s is told, and nothing is started', (line, problem) => {
  expect(problemsOf(line)).toEqual([problem])
})
