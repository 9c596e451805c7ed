import { expect, test } from 'vitest'
import { deal } from './deal.ts'

const list = Array.from({ length: 50 }, (_, place) => place)
const handsOf = (seed: string, chats: number) =>
  Array.from({ length: chats }, (_, chat) => deal(list, seed, chat))

test('chats get one to four, and none twice until the others have been dealt', () => {
  const hands = handsOf('a', 12)
  expect(hands.every(({ length }) => length >= 1 && length <= 4)).toBe(true)
  const dealt = hands.flat()
  expect(new Set(dealt).size).toBe(dealt.length)
})

test('many chats get everything, and no chat the same twice', () => {
  const hands = handsOf('a', 60)
  expect(new Set(hands.flat()).size).toBeGreaterThanOrEqual(list.length - 3)
  for (const hand of hands) expect(new Set(hand).size).toBe(hand.length)
})

test('another seed deals otherwise', () => {
  expect(handsOf('a', 12)).toEqual(handsOf('a', 12))
  expect(handsOf('a', 12)).not.toEqual(handsOf('b', 12))
})
