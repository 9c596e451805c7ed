import { describe, expect, test } from 'vitest'
import { execForm, readDockerfile, readIgnored, variablesOf } from './dockerfile.ts'

describe('a Dockerfile', () => {
  test('is read in stages, continued lines joined and comments left out', () => {
    const text =
      '# syntax\n\nFROM a:1 AS one\nRUN x && \\\n  y\n\nFROM b\n# why\nENV A=1 \\\n    B=/c\nUSER 1\n'
    expect(readDockerfile(text)).toEqual([
      { name: 'one', base: 'a:1', instructions: [{ name: 'RUN', text: 'x && y' }] },
      {
        name: null,
        base: 'b',
        instructions: [
          { name: 'ENV', text: 'A=1 B=/c' },
          { name: 'USER', text: '1' },
        ],
      },
    ])
    expect(variablesOf('A=1 B=/c')).toEqual({ A: '1', B: '/c' })
  })

  test.each([
    ['RUN x\nFROM a', 'before the first stage: RUN x'],
    ['FROM a\nrun x', 'no instruction: run x'],
  ])('that is none is refused: %j', (text, reason) => {
    expect(() => readDockerfile(text)).toThrow(reason)
  })

  test('starts a program without a shell only in exec form', () => {
    expect(execForm('["node", "dist/main.js"]')).toEqual(['node', 'dist/main.js'])
    expect(() => execForm('node dist/main.js')).toThrow('needs a shell')
    expect(() => execForm('[]')).toThrow('needs a shell')
  })
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
