import { describe, expect, test } from 'vitest'
import { profileOf } from '../support/subject.ts'
import { times } from '../support/times.ts'
import { assistant, prose, rawOf, rounds, send, sendGrowing, user } from './sending.ts'

const task = user('The task.')

/** A talk of so many turns that ends with a question. */
const talk = (count: number, tokens: number): object[] => [
  ...times(count, (number) => [user(`q${number}`), assistant(prose(`a${number}`, tokens))]).flat(),
  user('Go on.'),
]

/** The points of the compactions that a conversation makes as it grows, request by request. */
const compactionEnds = (conversation: readonly object[], budgetTokens: number, profile: object): number[] =>
  sendGrowing(conversation, { budgetTokens, profile: profileOf(profile) }).flatMap(
    ({ isCompacted, compaction }) => (isCompacted && compaction !== null ? [compaction.point] : []),
  )

/** Most of it is the open round, which no pass but clip touches. */
const withOpenRound = (tokens: number) =>
  send([task, ...rounds('a', 4, 100), ...rounds('open', 1, tokens)], { budgetTokens: 8000 })

describe('a compaction begins', () => {
  test('not before the trigger is reached', () => {
    expect(send([task, ...rounds('a', 22, 300)], { budgetTokens: 10_000 }).compaction).toBeNull()
    expect(send([task, ...rounds('a', 24, 300)], { budgetTokens: 10_000 }).compaction?.reason).toBe('trigger')
  })

  test('never by itself where the trigger is off', () => {
    const conversation = [task, ...rounds('a', 60, 300)]
    const profile = profileOf({ trigger: 'off' })
    const { compaction, texts } = send(conversation, { budgetTokens: 3000, profile })
    expect(compaction).toBeNull()
    expect(texts).toEqual(rawOf(conversation))
    // Nor by a count: what overflows is recovered, and nothing else changes.
    const counted = { trigger: 'off', every: { turns: 2, tool_calls: 2 } }
    expect(compactionEnds(talk(24, 500), 20_000, counted)).toEqual([])
  })

  test.each([0.75, 'off'])('when it is demanded, whatever the pressure, with a trigger of %s', (trigger) => {
    const conversation = [task, ...rounds('a', 12, 100)]
    const options = { budgetTokens: 100_000, profile: profileOf({ trigger }) }
    const before = send(conversation, options)
    expect(before.compaction).toBeNull()
    const { compaction, tokens } = send(conversation, { ...options, forced: true })
    expect(compaction).toMatchObject({ reason: 'forced', point: conversation.length })
    expect(tokens).toBeLessThanOrEqual(before.tokens * 0.6)
  })

  test('and is not recorded where a demanded one finds nothing to do', () => {
    for (const conversation of [[task], [task, ...rounds('open', 1, 300)]])
      expect(send(conversation, { budgetTokens: 100_000, forced: true }).compaction).toBeNull()
  })

  test('not while it would free little, until the budget forces it', () => {
    expect(withOpenRound(5700).compaction).toBeNull()
    expect(withOpenRound(7600).compaction?.reason).toBe('trigger')
    expect(withOpenRound(7600).tokens).toBeLessThanOrEqual(8000)
  })
})

describe('compactions by count', () => {
  const work = [task, ...rounds('a', 32, 500)]

  test.each([
    ['after so many turns, below the trigger', talk(24, 500), 20_000, { turns: 10 }, [21, 41]],
    ['after so many tool calls, below the trigger', work, 30_000, { tool_calls: 15 }, [31, 61]],
    ['however little they free', talk(24, 90), 40_000, { turns: 8 }, [17, 33, 49]],
    ['never where that is nothing', talk(2, 20), 40_000, { turns: 1 }, []],
  ])('come %s', (_, conversation, budgetTokens, every, points) => {
    expect(compactionEnds(conversation, budgetTokens, {})).toEqual([])
    expect(compactionEnds(conversation, budgetTokens, { every })).toEqual(points)
  })
})

test('min_growth_tokens lets a conversation grow before the next compaction, and gives way to the budget', () => {
  const conversation = [task, ...rounds('a', 70, 200)]
  const leastGap = (profile: object): number => {
    const points = compactionEnds(conversation, 6000, { target: 0.6, ...profile })
    return Math.min(...points.slice(1).map((point, index) => point - (points[index] ?? 0)))
  }
  // A round of 200 tokens weighs some 220: 2,000 tokens are nine rounds or more.
  expect(leastGap({})).toBeLessThan(16)
  expect(leastGap({ min_growth_tokens: 2000 })).toBeGreaterThanOrEqual(18)
  const profile = profileOf({ min_growth_tokens: 1_000_000 })
  const { compaction, tokens } = send(conversation, { budgetTokens: 6000, profile })
  expect(compaction).not.toBeNull()
  expect(tokens).toBeLessThanOrEqual(6000)
})
