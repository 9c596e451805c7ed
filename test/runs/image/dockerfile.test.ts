import { expect, test } from 'vitest'
import { execForm, readDockerfile, readIgnored } from './dockerfile.ts'

test('a Dockerfile is read in stages, continued lines joined and comments left out; what is none is refused', () => {
  const text = '# syntax\n\nFROM a:1 AS one\nRUN x && \\\n  y\n\nFROM b\n# why\nENV A=1 \\\n    B=/c\n'
  expect(readDockerfile(text)).toEqual([
    { name: 'one', base: 'a:1', instructions: [{ name: 'RUN', text: 'x && y' }] },
    { name: null, base: 'b', instructions: [{ name: 'ENV', text: 'A=1 B=/c' }] },
  ])
  expect(() => readDockerfile('RUN x\nFROM a')).toThrow('before the first stage: RUN x')
  expect(() => readDockerfile('FROM a\nrun x')).toThrow('no instruction: run x')
  expect(() => execForm('node dist/main.js')).toThrow('needs a shell')
})

test.each([
  ['*\n!src\n', 'src/a/b.ts', false],
  ['*\n!src\n', 'srcs/a.ts', true],
  ['*\n!src\n', '.git/config', true],
  ['*\n!src\nsrc/*.md\n', 'src/a.md', true],
  ['*\n!src\nsrc/*.md\n', 'src/b/a.md', false],
  ['**/*.log\n', 'a/b/c.log', true],
  ['**/*.log\n', 'c.log', true],
  ['# *\n\n', 'a', false],
])('with .dockerignore %j, %s stays out: %s', (text, path, ignored) => {
  expect(readIgnored(text)(path)).toBe(ignored)
})
