import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../config/temporary-folder.ts'
import { readOptions } from './options.ts'

test('a folder is enough', async () => {
  const folder = await temporaryFolder({ 'agents.jsonl': '' })
  expect(readOptions([folder])).toEqual({ folder, file: null, windowTokens: 16_000, storePath: null })
  const path = join(folder, 'new.sqlite')
  expect(readOptions([folder, '--file', 'agents', '--window', '8000', '--store', `sqlite:${path}`])).toEqual({
    ...{ folder, file: 'agents', windowTokens: 8000, storePath: path },
  })
})

test('what leaves nothing to compare, or would compare it with something else, is refused', async () => {
  const folder = await temporaryFolder({ 'agents.jsonl': '', 'old.sqlite': '' })
  const refused = (...args: readonly string[]) => expect(readOptions(args))
  refused().toContain('Name the folder')
  refused(folder, '--file', 'chats').toContain('there are agents.jsonl')
  refused(folder, '--window', '100').toContain('--window takes 4000 and more')
  refused(folder, '--window', 'wide').toContain('--window takes a whole number')
  refused(folder, '--store', 'redis://127.0.0.1').toContain('--store takes memory: or sqlite:PATH')
  refused(folder, '--store', 'sqlite:').toContain('--store takes memory: or sqlite:PATH')
  refused(folder, '--store', `sqlite:${join(folder, 'old.sqlite')}`).toContain('would be counted, too')
})
