import { expect, test } from 'vitest'
import { grownToShare, openingFor, talk, work } from './example-conversation.ts'
import { exampleStand, rawOf, standIns } from './example-stand.ts'

const windowTokens = 200_000
const stand = () => exampleStand('keep-ten-with-summaries', windowTokens)
const opening = openingFor(windowTokens)
const grown = [...opening, ...talk(110_000, 1_200)]

test('below three quarters of what is not fixed every byte goes on as it came', async () => {
  await using at = await stand()
  const conversation = await grownToShare(0.74, windowTokens, grown)
  const { raw, reply } = await at.send(conversation)
  expect(reply.action).toBe('relayed')
  expect(raw).toEqual(rawOf(conversation))
})

test('above them all but the task and the newest ten is represented, and those stay word for word', async () => {
  await using at = await stand()
  // Ten that are just small enough, the last of them so large that no eleventh has room.
  const large = [...opening, ...talk(95_000, 2_500)]
  const conversation = await grownToShare(0.76, windowTokens, large)
  const received = await at.send(conversation)
  expect(received.passes).toEqual(['fold'])
  expect(standIns(received).map(({ raw }) => raw)).toEqual([received.raw[2]])
  expect(received.raw.toSpliced(2, 1)).toEqual(rawOf([...opening, ...conversation.slice(-10)]))
})

test('where there is room more of them stay', async () => {
  await using at = await stand()
  const conversation = await grownToShare(0.76, windowTokens, grown)
  const { raw, sentTokens } = await at.send(conversation)
  expect(raw.slice(-12)).toEqual(rawOf(conversation.slice(-12)))
  expect(sentTokens).toBeLessThan(windowTokens * 0.3)
})

test('old tool results are folded with their messages, neither shortened nor cleared before', async () => {
  await using at = await stand()
  const conversation = await grownToShare(0.76, windowTokens, [...opening, ...work(110_000, 2_400)])
  const received = await at.send(conversation)
  expect(received.passes).toEqual(['fold'])
  expect(received.raw.slice(-10)).toEqual(rawOf(conversation.slice(-10)))
})
