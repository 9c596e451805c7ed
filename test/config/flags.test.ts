import { expect, test } from 'vitest'
import { parseArguments } from '../../src/config/flags.ts'
import { formatProblem } from '../../src/config/problem.ts'

const problemsOf = (line: string) => parseArguments(line.split(' ')).problems.map(formatProblem)

test('without arguments it serves', () => {
  expect(parseArguments([])).toEqual({ command: 'serve', flags: {}, file: null, problems: [] })
})

test.each([
  ['serve --port 80 --host=0.0.0.0', 'serve', { port: '80', host: '0.0.0.0' }, null],
  ['--admin-port 0 check --model m', 'check', { 'admin-port': '0', model: 'm' }, null],
  ['explain f.json --json --profile p', 'explain', { json: true, profile: 'p' }, 'f.json'],
  ['demo --upstream http://h --model m', 'demo', { upstream: 'http://h', model: 'm' }, null],
  ['-h', 'serve', { help: true }, null],
  ['explain --help', 'explain', { help: true }, null],
])('%s', (line, command, flags, file) => {
  expect(parseArguments(line.split(' '))).toEqual({ command, flags, file, problems: [] })
})

test.each([
  ['--upstrem http://h', '--upstrem: unknown flag — did you mean --upstream?'],
  ['--upstrem http://h check --port', '--port: needs a value — write --port PORT'],
  ['--host --port', '--host: needs a value — write --host HOST'],
  ['cheek', '"cheek": unknown command — did you mean "check"?'],
  ['--help=yes', '--help: takes no value — write --help'],
  [
    'explain',
    'explain: needs the file of a request body — foldgate explain FILE.json [--profile NAME] [--json]',
  ],
  ['check it', 'check: takes no argument "it"'],
  ['serve --model m', '--model: is no flag of "serve" — it belongs to check, demo'],
  ['demo --port 3', '--port: is no flag of "demo" — it belongs to serve, explain, check, health, purge'],
])('%s is told', (line, problem) => {
  expect(problemsOf(line)).toContain(problem)
})
