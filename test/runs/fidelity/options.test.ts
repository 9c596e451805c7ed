import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../config/temporary-folder.ts'
import { readOptions } from './rows.ts'

test('all rows and a row for each profile, of the files that hold a request, or what is asked for', async () => {
  const folder = await temporaryFolder({
    'answers.jsonl': '{"id":"a","response":"data: 1"}\n',
    'single.jsonl': '{"id":"a","request":{"model":"m","messages":[{"role":"user","content":"hi"}]}}\n',
    'large-recap.yaml': 'recap: {max_tokens: 2000}\n',
    'odd.yaml': 'triger: 0.5\n',
  })
  const read = (...args: string[]) => readOptions([folder, '--all', ...args])
  const namesOf = (...args: string[]) => read(...args).rows.map(({ name }) => name)
  expect(read().files).toEqual(['single.jsonl'])
  expect(namesOf('--profile', join(folder, 'large-recap.yaml')).slice(-2)).toEqual([
    'summarize',
    'large-recap',
  ])
  expect(namesOf('--dialect', 'messages')).toEqual(['truncate'])
  expect(namesOf('--row', 'middle out')).toEqual(['middle out'])
  expect(() => read('--row', 'trunc')).toThrow('There is no row named trunc; there are everything; newest')
  expect(() => read('--profile', join(folder, 'odd.yaml'))).toThrow('triger')
  expect(() => read('--upstream-ratio', '0.0')).toThrow('--upstream-ratio takes')
})
