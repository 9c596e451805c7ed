import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../config/temporary-folder.ts'
import { readOptions } from './options.ts'

const folderOf = () =>
  temporaryFolder({ 'coding-long.jsonl': '\n', 'coding-parallel.jsonl': '\n', 'own.jsonl': '\n' })

test('the coding files at 16,000 tokens, unless something else is asked for', async () => {
  const folder = await folderOf()
  expect(readOptions([folder])).toMatchObject({
    files: ['coding-long.jsonl', 'coding-parallel.jsonl'],
    room: { windowTokens: 16_000, reserveTokens: 4000 },
  })
  expect(readOptions([folder, '--file', 'own', '--window', '32000'])).toMatchObject({
    files: ['own.jsonl'],
    room: { windowTokens: 32_000 },
  })
})

test('a profile is read with its defaults and named by its file', async () => {
  const folder = await temporaryFolder({
    'own.jsonl': '\n',
    'large-recap.yaml': 'recap: {max_tokens: 2000}\n',
  })
  const options = readOptions([folder, '--file', 'own', '--profile', join(folder, 'large-recap.yaml')])
  if (typeof options === 'string') throw new Error(options)
  expect([...options.profiles.keys()]).toEqual(['large-recap'])
  expect(options.profiles.get('large-recap')).toMatchObject({ recap: { max_tokens: 2000 }, trigger: 1 })
})

test('all files are those that hold a request, single ones included', async () => {
  const folder = await temporaryFolder({
    'answers.jsonl': '{"id":"a","response":"data: 1"}\n',
    'single.jsonl': '{"id":"a","request":{"model":"m","messages":[{"role":"user","content":"hi"}]}}\n',
    'unanswered.jsonl': '{"id":"a","messages":[{"role":"user","content":"hi"}]}\n',
  })
  expect(readOptions([folder, '--all', '--window', '8000'])).toMatchObject({ files: ['single.jsonl'] })
  expect(readOptions([folder, '--all', '--file', 'single'])).toMatch(/^--all measures every file/)
})

test('all rows at our own count and without views, unless something else is asked for', async () => {
  const folder = await folderOf()
  const plain = readOptions([folder])
  expect(plain).toMatchObject({ upstreamRatio: 1, views: null })
  expect(plain).toHaveProperty('rowNames', expect.arrayContaining(['everything', 'truncate', 'summarize']))
  const asked = ['--row', 'truncate', '--row', 'middle out', '--upstream-ratio', '1.25', '--views', '10']
  expect(readOptions([folder, ...asked])).toMatchObject({
    rowNames: ['truncate', 'middle out'],
    upstreamRatio: 1.25,
    views: { count: 10, seed: 1 },
  })
})

test('rows, ratios and views that mean nothing are refused', async () => {
  const folder = await folderOf()
  expect(readOptions([folder, '--row', 'trunc'])).toBe(
    'There is no row named trunc; there are everything; newest suffix; head, newest suffix; middle out; clearing; truncate; summarize.',
  )
  for (const ratio of ['0', '0.0', '-1', 'much'])
    expect(readOptions([folder, `--upstream-ratio=${ratio}`])).toMatch(/^--upstream-ratio takes/)
  expect(readOptions([folder, '--views', 'few'])).toMatch(/^--views takes/)
  expect(readOptions([folder, '--views', '3', '--json'])).toMatch(/without --json/)
})

test('in the Responses API the rows of Foldgate’s without summaries, with a little reasoning', async () => {
  const folder = await folderOf()
  const asked = [folder, '--dialect', 'responses']
  expect(readOptions(asked)).toMatchObject({
    dialect: 'responses',
    reasoningTokens: 40,
    rowNames: ['truncate'],
  })
  expect(readOptions([...asked, '--reasoning', '0'])).toMatchObject({ reasoningTokens: 0 })
  expect(readOptions([...asked, '--reasoning', 'much'])).toMatch(/^--reasoning takes/)
  expect(readOptions([folder, '--reasoning', '40'])).toBe(
    '--reasoning is for --dialect responses and messages.',
  )
  expect(readOptions([folder, '--dialect', 'morse'])).toBe(
    'There is no dialect morse; there are chat-completions, responses, messages.',
  )
})

test('what leaves nothing to measure is refused, with the reason', async () => {
  const folder = await temporaryFolder({
    'own.jsonl': '\n',
    'odd.yaml': 'triger: 0.5\n',
    'truncate.yaml': '',
  })
  expect(readOptions([])).toMatch(/^Name the folder/)
  expect(readOptions([folder])).toMatch(/^There are no recordings named coding-long/)
  expect(readOptions([folder, '--file', 'own', '--window', '16k'])).toMatch(/^--window takes/)
  expect(readOptions([folder, '--file', 'own', '--window', '4000'])).toMatch(/^--window takes 8000/)
  expect(readOptions([folder, '--file', 'own', '--profile', join(folder, 'odd.yaml')])).toMatch(/triger/)
  expect(readOptions([folder, '--file', 'own', '--profile', join(folder, 'none.yaml')])).toMatch(/none\.yaml/)
  expect(readOptions([folder, '--file', 'own', '--profile', join(folder, 'truncate.yaml')])).toBe(
    'Two rows would be named truncate.',
  )
})
