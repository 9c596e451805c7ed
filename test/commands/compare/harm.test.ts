import { describe, expect, test } from 'vitest'
import { harmIn, type Pair } from '../../../src/commands/compare/pairs.ts'
import { openDice } from '../../../src/commands/demo/dice.ts'

/** Pairs of conversations that differ among each other in how much a compaction harms them, around a share of a hundred. */
function pairsOf(
  seed: number,
  harm: number,
  { conversations = 20, each = 5, noise = 15 } = {},
): Pair<'any'>[] {
  const dice = openDice(seed)
  const chance = (share: number): boolean => dice.below(100) < share
  return Array.from({ length: conversations }, (_, at) => {
    const own = harm + (at % 2 === 0 ? 10 : -10)
    return Array.from({ length: each }, () => ({
      conversation: `${at}`,
      again: { any: chance(noise) },
      compacted: { any: chance(noise + own) },
    }))
  }).flat()
}

/** Pairs of conversations of which every second one is harmed at each of its moments. */
const alike = (conversations: number): Pair<'any'>[] =>
  Array.from({ length: 60 }, (_, at) => ({
    conversation: `${at % conversations}`,
    again: { any: false },
    compacted: { any: (at % conversations) % 2 === 0 },
  }))

const width = (conversations: number): number => {
  const { harm } = harmIn('any', alike(conversations), 1)
  return harm === null ? 0 : harm.high - harm.low
}

describe('harm', () => {
  test('is what differs compacted less what differs anyway, and its interval holds what is true nineteen of twenty times', () => {
    const held = Array.from({ length: 100 }, (_, seed) => {
      const { harm } = harmIn('any', pairsOf(seed, 25), 1)
      return harm !== null && harm.low <= 0.25 && 0.25 <= harm.high
    })
    expect(held.filter(Boolean).length).toBeGreaterThanOrEqual(88)
  })

  test('has a wider interval where the same pairs are of fewer conversations', () => {
    expect(width(6)).toBeGreaterThan(2 * width(60))
  })

  test.each([
    ['49 pairs', { conversations: 7, each: 7 }],
    ['four conversations', { conversations: 4, each: 20 }],
  ])('of %s only the counts are told', (_, size) => {
    const pairs = pairsOf(1, 50, size)
    const count = (of: 'again' | 'compacted'): number => pairs.filter((pair) => pair[of].any).length
    expect(harmIn('any', pairs, 1)).toEqual({
      again: count('again'),
      compacted: count('compacted'),
      harm: null,
    })
  })
})
