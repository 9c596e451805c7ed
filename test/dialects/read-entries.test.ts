import { expect, test } from 'vitest'
import { createFactsReader } from '../../src/dialects/entry-facts.ts'
import { readMessages } from '../support/chat-completions.ts'
import { finish } from '../../src/conversation/source.ts'
import { entriesOf } from '../support/body-limits.ts'
import { digest, sourceOf } from '../support/source.ts'

function read(messages: readonly unknown[]) {
  const source = sourceOf(JSON.stringify(messages))
  return readMessages(entriesOf(source), source, 'scope', createFactsReader(digest, { entriesMax: 100 }))
}

test('every message comes with its place and its facts', () => {
  const messages = finish(read([{ role: 'user', content: 'a' }, { role: 'assistant' }]))
  expect(messages?.map(({ start, end, facts }) => [start, end, facts.role])).toEqual([
    [1, 30, 'user'],
    [31, 51, 'assistant'],
  ])
})

test('one unreadable message makes the conversation unreadable', () => {
  expect(finish(read([{ role: 'user' }, 7]))).toBeNull()
})

test('large conversations are read in steps', () => {
  const content = 'x'.repeat(200_000)
  expect(
    [...read(Array.from({ length: 10 }, () => ({ role: 'user', content })))].length,
  ).toBeGreaterThanOrEqual(10)
})
