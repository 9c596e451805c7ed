import { expect, test } from 'vitest'
import { rawMessage } from '../harness/recordings.ts'
import { dropHalfWhenFull } from './clients.ts'

const conversation = Array.from({ length: 12 }, (_, index) =>
  rawMessage(JSON.stringify({ role: index === 0 ? 'system' : 'user', content: `${index}` })),
)

test('a client that drops half sends a prompt that grows at its end, until it is full', () => {
  const compact = dropHalfWhenFull()
  // Ten tokens each: the head takes two of the eight that there is room for.
  const sent = [8, 9, 10, 11, 12].map((count) =>
    compact({ messages: conversation.slice(0, count), budgetTokens: 80, sizeOf: () => 10 }).map(
      ({ message }) => message['content'],
    ),
  )
  expect(sent).toEqual([
    ['0', '1', '2', '3', '4', '5', '6', '7'],
    ['0', '1', '6', '7', '8'],
    ['0', '1', '6', '7', '8', '9'],
    ['0', '1', '6', '7', '8', '9', '10'],
    ['0', '1', '6', '7', '8', '9', '10', '11'],
  ])
})
