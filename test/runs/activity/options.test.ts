import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../config/temporary-folder.ts'
import { readOptions } from './options.ts'

test('a folder is enough', async () => {
  const folder = await temporaryFolder({ 'agents.jsonl': '' })
  expect(readOptions([folder])).toEqual({ folder, file: null, windowTokens: 16_000, storePath: null })
  const path = join(folder, 'new.sqlite')
  expect(readOptions([folder, '--file', 'agents', '--window', '8000', '--store', `sqlite:${path}`])).toEqual({
    folder,
    file: 'agents',
    windowTokens: 8000,
    storePath: path,
  })
})

test('what leaves nothing to compare, or would compare it with something else, is refused', async () => {
  const folder = await temporaryFolder({ 'agents.jsonl': '', 'old.sqlite': '' })
  expect(readOptions([])).toContain('Name the folder')
  expect(readOptions([folder, '--file', 'chats'])).toContain('there are agents.jsonl')
  expect(readOptions([folder, '--window', '100'])).toContain('--window takes 4000 and more')
  expect(readOptions([folder, '--window', 'wide'])).toContain('--window takes a whole number')
  expect(readOptions([folder, '--store', 'redis://127.0.0.1'])).toContain(
    '--store takes memory: or sqlite:PATH',
  )
  expect(readOptions([folder, '--store', 'sqlite:'])).toContain('--store takes memory: or sqlite:PATH')
  expect(readOptions([folder, '--store', `sqlite:${join(folder, 'old.sqlite')}`])).toContain(
    'would be counted, too',
  )
})
