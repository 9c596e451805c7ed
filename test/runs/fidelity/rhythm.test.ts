import { expect, test } from 'vitest'
import { quantile } from './quantile.ts'
import { rhythmOf } from './rhythm.ts'

test('gaps lie between compactions, and fill is the largest prompt before each', () => {
  const beats = [400, 900, -500, 700, 950, 800, -600, -300, 500].map((prompt) => ({
    isCompacted: prompt < 0,
    promptTokens: Math.abs(prompt),
  }))
  expect(rhythmOf(beats, 1000)).toEqual({ gaps: [4, 1], fills: [0.9, 0.95, 0.6] })
  expect(rhythmOf(beats.slice(0, 2), 1000)).toEqual({ gaps: [], fills: [] })
})

test('a quantile is one of the samples', () => {
  const samples = [9, 1, 8, 2, 7, 3, 6, 4, 5, 10]
  expect([quantile(samples, 0.1), quantile(samples, 0.5), quantile([3], 0.1)]).toEqual([1, 5, 3])
  expect(quantile([], 0.5)).toBeNull()
})
