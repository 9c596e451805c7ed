import { expect, test } from 'vitest'
import { referredIn } from '../../../../src/compaction/recap/user/sentences.ts'

const items = ['1. Rewrite the store.', '2. Add a lock.', '3. Drop the feature.']
const list = `I see these ways:\n${items.join('\n')}`

// Story: number words anywhere in a message counted as a place in the list above it. Who wrote "The second one, not the first."
// stood in the recap as having chosen the first. Now nobody is said to have chosen anything: the list stands beside the words.
test('a list that was answered stands there with its question, each item in its words', () => {
  expect(referredIn(`${list}\nWhich one?`)).toBe([...items, 'Which one?'].join(' / '))
  expect(referredIn(list)).toBeNull()
})

test('a list stands there however long its items are, each by its beginning', () => {
  const long = ['a', 'b', 'c', 'd'].map((name) => `- ${name} ${'very '.repeat(80)}long`)
  const told = referredIn(`${long.join('\n')}\n\nWhich one?`) ?? ''
  for (const name of ['- a very', '- b very', '- c very', '- d very', 'Which one?'])
    expect(told).toContain(name)
  expect(told.length).toBeLessThan(400)
})

test('of two lists the last one stands there, and of a long one the last items behind a mark', () => {
  const other = '- apples\n- pears\n\nSo much for fruit.\n\n'
  expect(referredIn(`${other}${list}\nWhich one?`)).toBe([...items, 'Which one?'].join(' / '))
  const nine = Array.from({ length: 9 }, (_, index) => `${index + 1}. way`)
  expect(referredIn(`${nine.join('\n')}\nWhich one?`)).toBe(['…', ...nine.slice(3), 'Which one?'].join(' / '))
  expect(referredIn('We could:\n- wait\n- shall I go on?')).toBe('- wait / - shall I go on?')
})

test('a question stands there alone where no list is near it, and a proposal where nothing is asked', () => {
  const question = 'Shall I round to two decimals?'
  expect(referredIn(`${list}\n\n${'It was a long day at the lake. '.repeat(20)}\n\n${question}`)).toBe(
    question,
  )
  expect(referredIn('We looked.\n\nWe might leave Fridays free.')).toBe('We might leave Fridays free.')
  expect(referredIn('We looked. We might leave Fridays free.')).toBeNull()
})

test('what says nothing is answered by nothing', () => {
  for (const nothing of ['', '  ', '```\ncode\n```']) expect(referredIn(nothing)).toBeNull()
})
