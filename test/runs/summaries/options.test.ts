import { expect, test } from 'vitest'
import { temporaryFolder } from '../../config/temporary-folder.ts'
import { readOptions } from './options.ts'

test('all files at 16,000 tokens, each request once the summaries are there, unless something else is asked for', async () => {
  const folder = await temporaryFolder({ 'own.jsonl': '\n' })
  const usual = { delayMs: 0, pauseMs: 0, waitsForSummaries: true }
  expect(readOptions([folder])).toMatchObject({ file: null, windowTokens: 16_000, pacing: usual })
  expect(
    readOptions([folder, '--file', 'own', '--window', '32000', '--delay', '400', '--pace', '900']),
  ).toMatchObject({
    file: 'own',
    windowTokens: 32_000,
    pacing: { delayMs: 400, pauseMs: 900, waitsForSummaries: false },
  })
})

test('what leaves nothing to measure is refused, with the reason', async () => {
  const folder = await temporaryFolder({ 'own.jsonl': '\n' })
  expect(readOptions([])).toMatch(/^Name the folder/)
  expect(readOptions([folder, '--file', 'none'])).toMatch(/^There are no recordings named none/)
  expect(readOptions([folder, '--window', '4000'])).toMatch(/^--window takes 8000/)
  expect(readOptions([folder, '--delay', 'long'])).toMatch(/^--delay takes/)
  expect(readOptions([folder, '--pace', '9', '--pause', '9'])).toMatch(/^Either --pace/)
  expect(readOptions([folder, '--own-model', '--pace', '9'])).toMatch(/^--own-model has no use for --pace/)
})
