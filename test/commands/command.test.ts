import { expect, test } from 'vitest'
import { asStarted } from '../../src/commands/command.ts'

// Whoever had installed it in a folder was told to write "foldgate run --attach …", and their shell knew no foldgate.
test.each([
  ['run: names no program to start — write foldgate run -- claude', 'write npx foldgate run -- claude'],
  ['"x": unknown command — foldgate --help lists all', '— npx foldgate --help lists all'],
  ['Use that one (URL, or foldgate run --attach -- COMMAND)', 'or npx foldgate run --attach -- COMMAND)'],
  ['foldgate run: cluade cannot be started', 'foldgate run: cluade cannot be started'],
  ['other is no state of foldgate compare: name another file', 'no state of foldgate compare: name'],
  ['/my foldgate files/foldgate run/foldgate.yaml', '/my foldgate files/foldgate run/foldgate.yaml'],
])('of %j the command is written as it is started here', (problem, told) => {
  expect(asStarted(problem, 'npx foldgate')).toContain(told)
})
