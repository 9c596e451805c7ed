import { expect, test } from 'vitest'
import { nextStepOf } from '../../../src/commands/compare/pairs.ts'

const step = (...calls: readonly (readonly [name: string, given: object | string])[]) =>
  nextStepOf({
    calls: calls.map(([name, given]) => {
      const argumentsText = typeof given === 'string' ? given : JSON.stringify(given)
      return { id: '', name, argumentsText, isIncomplete: false, json: {} }
    }),
  })

const bash = (command: unknown) => step(['bash', { command }]).commands

test('a reply that only says something does nothing next', () => {
  expect(step()).toEqual({ tools: [], paths: [], commands: [] })
})

test('tools, in whatever order, as often as they are called; paths by folder and name', () => {
  const two = step(['read', { path: '/repo/src/a.ts' }], ['edit', { file: './src/a.ts', text: 'x\ny' }])
  expect(two).toEqual({ tools: ['edit', 'read'], paths: ['src/a.ts'], commands: ['change', 'look'] })
  expect(step(['edit', { file: 'src/a.ts', text: 'x\ny' }], ['read', { path: 'src/a.ts' }])).toEqual(two)
})

test.each<[unknown, string[]]>([
  ['git diff --stat HEAD~2', ['git diff']],
  ['git --no-pager log', ['git log']],
  ['cd /repo && FOO=1 sudo npm test -- --watch 2>&1 | tail -20 > out.txt', ['npm test', 'tail']],
  ['cd /repo', ['cd']],
  [
    ['bash', '-lc', 'rg -n "a; rm b && c" src | head'],
    ['head', 'rg'],
  ],
  [['ls', '-la'], ['ls']],
  ["python - <<'END'\nimport os; os.remove('x')\nEND\necho done", ['echo', 'python']],
  ['/usr/bin/env python3 -m pytest -q', ['python3']],
  ['view', ['view']],
])('%j runs %j', (command, programs) => {
  expect(bash(command)).toEqual(programs)
})

test('arguments that the limit of the reply has cut still say what they are about', () => {
  const cut = step(['write_file', '{"path":"src/a.ts","content":"import { b } from \'b.ts\'\\nexport'])
  expect(cut).toEqual({ tools: ['write_file'], paths: ['src/a.ts'], commands: ['change'] })
})

test('arguments that are made to take long take none', () => {
  const long = `${'<<a\n'.repeat(20_000)}${'"\\'.repeat(20_000)}`
  expect(bash(long).length).toBeGreaterThan(0)
})
