import { expect, test } from 'vitest'
import { figuresOf } from './table.ts'
import { sumOf } from './tally.ts'

test('sums are divided once, so that every thing and every token weighs the same', () => {
  const small = { requests: 1, things: 1, thingsHeld: 0, promptTokens: 1000, strides: 1, summaryTokens: 400 }
  const large = { requests: 3, things: 9, thingsHeld: 9, promptTokens: 5000, cachedTokens: 3000 }
  expect(figuresOf(sumOf([small, large]))).toEqual({
    recall: 90,
    far: 100,
    verbatim: 100,
    cacheHits: 50,
    weightedTokens: (3000 + 300) / 4,
    stridesPer100: 25,
    summaryTokens: 100,
  })
})
