import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../config/temporary-folder.ts'
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
