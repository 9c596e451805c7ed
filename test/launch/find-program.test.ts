import { expect, test } from 'vitest'
import { findProgram, nearestProgram } from '../../src/launch/find-program.ts'

test.each([
  ['claude -p hello', 'Claude Code', 1],
  ['/home/me/.local/bin/claude', 'Claude Code', 1],
  ['claude.cmd', 'Claude Code', 1],
  ['codex exec claude', 'Codex', 1],
  ['npx codex exec', 'Codex', 2],
  ['npx -y @openai/codex@latest exec', 'Codex', 3],
  ['node /x/node_modules/@openai/codex/bin/codex.js exec', 'Codex', 2],
  ['node /x/node_modules/@qwen-code/qwen-code/cli.js', 'Qwen Code', 2],
  ['bunx opencode-ai@1.2.3', 'opencode', 2],
  ['uvx aider', 'aider', 2],
  ['node server.js codex', 'any program', 1],
  ['claude-code-router', 'any program', 1],
  ['echo claude', 'any program', 1],
  ['npx', 'any program', 1],
])('%s is %s', (command, name, ownArgumentsAt) => {
  const found = findProgram(command.split(' '))
  expect([found.program.name, found.ownArgumentsAt]).toEqual([name, ownArgumentsAt])
})

test.each([
  ['cluade', 'claude'],
  ['Opncode', 'opencode'],
  ['aidr', 'aider'],
  // It is known, and is not there: nothing is misspelt.
  ['claude', null],
  ['./cluade', null],
  ['frobnicate', null],
])('%s was meant to be %s', (word, meant) => {
  expect(nearestProgram(word)).toBe(meant)
})
