import { describe, expect, test } from 'vitest'
import { policyOf } from '../support/subject.ts'
import { assistant, prose, rounds, send, sendGrowing, user } from './sending.ts'

const task = user('The task.')
const talk = (count: number, tokens: number): object[] =>
  Array.from({ length: count }, (_, index) => [
    user(`q${index}`),
    assistant(prose(`a${index}`, tokens)),
  ]).flat()

/** The points of the compactions that a conversation makes as it grows, request by request. */
function compactionEnds(conversation: readonly object[], budgetTokens: number, profile: object): number[] {
  return sendGrowing(conversation, { budgetTokens, policy: policyOf(profile) }).flatMap(
    ({ isCompacted, compaction }) => (isCompacted && compaction !== null ? [compaction.point] : []),
  )
}

describe('a compaction begins', () => {
  test('not before the trigger is reached', () => {
    expect(send([task, ...rounds('a', 22, 300)], { budgetTokens: 10_000 }).compaction).toBeNull()
    expect(send([task, ...rounds('a', 24, 300)], { budgetTokens: 10_000 }).compaction?.reason).toBe('trigger')
  })

  test('never by itself where the trigger is off', () => {
    const conversation = [task, ...rounds('a', 60, 300)]
    const { compaction, texts } = send(conversation, {
      budgetTokens: 3000,
      policy: policyOf({ trigger: 'off' }),
    })
    expect(compaction).toBeNull()
    expect(texts).toEqual(conversation.map((message) => JSON.stringify(message)))
    // Nor by a count: what overflows is recovered, and nothing else changes.
    const counted = { trigger: 'off', every: { turns: 2, tool_calls: 2 } }
    expect(compactionEnds([...talk(24, 500), user('Go on.')], 20_000, counted)).toEqual([])
  })

  test('when it is demanded, whatever the pressure and the trigger', () => {
    const conversation = [task, ...rounds('a', 12, 100)]
    for (const trigger of [0.75, 'off']) {
      const options = { budgetTokens: 100_000, policy: policyOf({ trigger }) }
      expect(send(conversation, options).compaction).toBeNull()
      const { compaction, tokens } = send(conversation, { ...options, forced: true })
      expect(compaction).toMatchObject({ reason: 'forced', point: conversation.length })
      expect(tokens).toBeLessThanOrEqual(send(conversation, options).tokens * 0.6)
    }
  })

  test('and is not recorded where a demanded one finds nothing to do', () => {
    expect(send([task], { budgetTokens: 100_000, forced: true }).compaction).toBeNull()
    const open = [task, ...rounds('open', 1, 300)]
    expect(send(open, { budgetTokens: 100_000, forced: true }).compaction).toBeNull()
  })
})

describe('a compaction that would free little', () => {
  const small = [task, ...rounds('a', 4, 100)]

  test('waits', () => {
    // Most of it is the open round, which no pass but clip touches.
    const { compaction } = send([...small, ...rounds('open', 1, 5700)], { budgetTokens: 8000 })
    expect(compaction).toBeNull()
  })

  test('until the budget forces it', () => {
    const { compaction, tokens } = send([...small, ...rounds('open', 1, 7600)], { budgetTokens: 8000 })
    expect(compaction?.reason).toBe('trigger')
    expect(tokens).toBeLessThanOrEqual(8000)
  })
})

describe('compactions by count', () => {
  test('come after so many turns, below the trigger', () => {
    const conversation = [...talk(24, 500), user('Go on.')]
    expect(compactionEnds(conversation, 20_000, {})).toEqual([])
    const points = compactionEnds(conversation, 20_000, { every: { turns: 10 } })
    expect(points).toEqual([21, 41])
  })

  test('come after so many tool calls, below the trigger', () => {
    const conversation = [task, ...rounds('a', 32, 500)]
    expect(compactionEnds(conversation, 30_000, {})).toEqual([])
    const points = compactionEnds(conversation, 30_000, { every: { tool_calls: 15 } })
    expect(points).toEqual([31, 61])
  })

  test('come however little they free, as long as that is something', () => {
    const conversation = [...talk(24, 90), user('Go on.')]
    expect(compactionEnds(conversation, 40_000, { every: { turns: 8 } })).toEqual([17, 33, 49])
    expect(compactionEnds([...talk(2, 20), user('Go on.')], 40_000, { every: { turns: 1 } })).toEqual([])
  })
})

/** The messages between one compaction and the next. */
const gaps = (points: readonly number[]): number[] =>
  points.slice(1).map((point, index) => point - (points[index] ?? 0))

describe('min_growth_tokens', () => {
  const conversation = [task, ...rounds('a', 70, 200)]
  test('lets a conversation grow before the next compaction', () => {
    const usual = compactionEnds(conversation, 6000, { target: 0.6 })
    const rarer = compactionEnds(conversation, 6000, { target: 0.6, min_growth_tokens: 2000 })
    // A round of 200 tokens weighs some 220: 2,000 tokens are nine rounds or more.
    expect(Math.min(...gaps(usual))).toBeLessThan(16)
    expect(Math.min(...gaps(rarer))).toBeGreaterThanOrEqual(18)
  })

  test('gives way to the budget', () => {
    const policy = policyOf({ min_growth_tokens: 1_000_000 })
    const { compaction, tokens } = send(conversation, { budgetTokens: 6000, policy })
    expect(compaction).not.toBeNull()
    expect(tokens).toBeLessThanOrEqual(6000)
  })
})
