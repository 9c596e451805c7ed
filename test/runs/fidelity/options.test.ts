import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { temporaryFolder } from '../../config/temporary-folder.ts'
import { readOptions } from './options.ts'

const files = {
  'coding-long.jsonl': '\n',
  'coding-parallel.jsonl': '\n',
  'answers.jsonl': '{"id":"a","response":"data: 1"}\n',
  'single.jsonl': '{"id":"a","request":{"model":"m","messages":[{"role":"user","content":"hi"}]}}\n',
  'large-recap.yaml': 'recap: {max_tokens: 2000}\n',
  'odd.yaml': 'triger: 0.5\n',
  'truncate.yaml': '',
}
const usual = await temporaryFolder(files, afterAll)
const namesOf = (...args: string[]) => readOptions([usual, ...args]).rows.map(({ name }) => name)

test('the coding files and all rows, a row for each profile, or what is asked for', () => {
  const coding = ['coding-long.jsonl', 'coding-parallel.jsonl']
  expect(readOptions([usual])).toMatchObject({
    files: coding,
    reasoningTokens: 40,
    upstreamRatio: 1,
    views: null,
  })
  // Some files hold answers, and no request.
  expect(readOptions([usual, '--all']).files).toEqual(['single.jsonl'])
  expect(namesOf().slice(-2)).toEqual(['truncate', 'summarize'])
  expect(namesOf('--dialect', 'messages')).toEqual(['truncate'])
  expect(namesOf('--row', 'middle out')).toEqual(['middle out'])
  const { rows } = readOptions([usual, '--profile', join(usual, 'large-recap.yaml')])
  expect(rows.at(-1)).toMatchObject({
    name: 'large-recap',
    profile: { recap: { max_tokens: 2000 }, trigger: 1 },
  })
})

test.each([
  [['--row', 'trunc'], 'There is no row named trunc; there are everything; newest suffix; head, newest'],
  [['--upstream-ratio', '0.0'], '--upstream-ratio takes'],
  [['--upstream-ratio', 'much'], '--upstream-ratio takes'],
  [['--views', '3', '--json'], 'without --json'],
  [['--all', '--file', 'single'], '--all measures every file'],
  [['--reasoning', '40'], '--reasoning is for --dialect responses and messages.'],
  [['--reasoning', 'much', '--dialect', 'responses'], '--reasoning takes'],
  [['--profile', join(usual, 'odd.yaml')], 'triger'],
  [['--profile', join(usual, 'none.yaml')], 'none.yaml'],
  [['--profile', join(usual, 'truncate.yaml')], 'Two rows would be named truncate.'],
])('%j is refused', (args, reason) => {
  expect(() => readOptions([usual, ...args])).toThrow(reason)
})
