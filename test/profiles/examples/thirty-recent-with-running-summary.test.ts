import { expect, test } from 'vitest'
import { grownToShare, openingFor, talk, work } from './example-conversation.ts'
import { exampleStand, rawOf, standIns } from './example-stand.ts'

// That of the model, from the built-in table.
const windowTokens = 128_000
const stand = () => exampleStand('thirty-recent-with-running-summary', windowTokens)
const opening = openingFor(windowTokens)
const grown = [...opening, ...talk(80_000, 800)]

test('below 0.8 every byte goes on as it came', async () => {
  await using at = await stand()
  const conversation = await grownToShare(0.79, windowTokens, grown)
  const { raw, reply } = await at.send(conversation)
  expect(reply.action).toBe('relayed')
  expect(raw).toEqual(rawOf(conversation))
})

test('above it all but the task and the thirty newest is represented, and those stay word for word', async () => {
  await using at = await stand()
  // Thirty that are just small enough, the last of them so large that there is no room for more.
  const conversation = await grownToShare(0.81, windowTokens, [...opening, ...talk(50_000, 950)])
  const received = await at.send(conversation)
  expect(received.passes).toEqual(['fold'])
  expect(standIns(received).map(({ raw }) => raw)).toEqual([received.raw[2]])
  expect(received.raw.toSpliced(2, 1)).toEqual(rawOf([...opening, ...conversation.slice(-30)]))
})

test('tool results are folded with their messages, neither shortened nor cleared before', async () => {
  await using at = await stand()
  const conversation = await grownToShare(0.81, windowTokens, [...opening, ...work(80_000, 2_400)])
  expect((await at.send(conversation)).passes).toEqual(['fold'])
})

test('what follows is folded into the one that stands there', async () => {
  await using at = await stand()
  const conversation = await grownToShare(0.81, windowTokens, grown)
  const first = await at.send(conversation)
  const longer = [...conversation, ...talk(60_000, 800)]
  const second = await at.send(longer)
  expect(standIns(second)).toHaveLength(1)
  expect(standIns(second)).not.toEqual(standIns(first))
  expect(second.raw.slice(-30)).toEqual(rawOf(longer.slice(-30)))
})
