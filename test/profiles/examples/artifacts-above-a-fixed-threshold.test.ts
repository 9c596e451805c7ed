import { describe, expect, test } from 'vitest'
import { round } from '../../compaction/sending.ts'
import { grownTo, openingFor, talk, words, work } from './example-conversation.ts'
import { exampleStand, rawOf, standIns } from './example-stand.ts'

const windowTokens = 200_000
const stand = () => exampleStand('artifacts-above-a-fixed-threshold', windowTokens)
const opening = openingFor(windowTokens)

describe('an agent with results of 2,100 tokens', () => {
  const small = round('call_small', words('small result', 1_950))
  const grown = [...opening, ...small, ...work(75_000, 2_100)]

  test('nothing happens at 99,000 tokens, although the window has 200,000', async () => {
    await using at = await stand()
    const conversation = await grownTo(99_000, grown)
    const { incomingTokens, raw, reply } = await at.send(conversation)
    expect(incomingTokens).toBeGreaterThan(98_500)
    expect(incomingTokens).toBeLessThan(100_000)
    expect(reply.action).toBe('relayed')
    expect(raw).toEqual(rawOf(conversation))
  })

  test('above 100,000 old ones are shown with 1,600 characters and 24 lines at most, the ten newest messages as they are', async () => {
    await using at = await stand()
    const conversation = await grownTo(101_000, grown)
    const received = await at.send(conversation)
    expect(received.incomingTokens).toBeGreaterThan(100_000)
    expect(received.passes).toContain('preview')
    const shown = received.messages.filter(({ text }) => text.includes('of this result was left out'))
    expect(shown.length).toBeGreaterThan(20)
    expect(shown.filter(({ text }) => text.length > 1_600)).toEqual([])
    expect(received.raw.slice(-10)).toEqual(rawOf(conversation.slice(-10)))
    expect(received.sentTokens).toBeLessThanOrEqual(50_000)
  })

  test('of many lines it is the lines that count', async () => {
    await using at = await stand()
    const listing = Array.from({ length: 700 }, (_, index) => `row ${index}`).join('\n')
    const conversation = await grownTo(101_000, [
      ...opening,
      ...round('call_list', listing),
      ...grown.slice(2),
    ])
    const { messages, passes } = await at.send(conversation)
    expect(passes).toContain('preview')
    const shown = messages[3]?.text ?? ''
    expect(shown.split('\n').length).toBeLessThanOrEqual(24)
    expect(shown.length).toBeLessThan(1_600)
  })
})

test('what cannot be freed so is folded, but for the task and the ten newest messages', async () => {
  await using at = await stand()
  const grown = [...opening, ...work(30_000, 1_950), ...talk(20_000, 1_900)]
  const conversation = await grownTo(101_000, grown)
  const received = await at.send(conversation)
  expect(received.incomingTokens).toBeGreaterThan(100_000)
  expect(received.passes).toEqual(['fold'])
  expect(standIns(received).map(({ raw }) => raw)).toEqual([received.raw[2]])
  expect(received.raw.toSpliced(2, 1)).toEqual(rawOf([...opening, ...conversation.slice(-10)]))
})
