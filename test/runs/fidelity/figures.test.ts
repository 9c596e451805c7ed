import { expect, test } from 'vitest'
import { figuresOf, isSound, isWorkable, rhythmOf, sumOf } from './figures.ts'

const nothing = { tenth: null, median: null }

test('sums are divided once, so that every thing and every token weighs the same', () => {
  const small = { requests: 1, things: 1, promptTokens: 1000, compactions: 1, summaryTokens: 400 }
  const large = { requests: 3, things: 9, thingsHeld: 9, promptTokens: 5000, cachedTokens: 3000 }
  expect(figuresOf(sumOf([small, { ...large, actions: 10, actionsHeld: 9 }]))).toEqual({
    recall: 90,
    far: 100,
    verbatim: 100,
    quotes: 100,
    actions: 90,
    own: 100,
    observations: 100,
    recent: nothing,
    cacheHits: 50,
    weightedTokens: (3000 + 300) / 4,
    compactionsPer100: 25,
    gap: nothing,
    fill: nothing,
    summaryTokens: 100,
  })
})

test('samples of all conversations are put together before their quantiles are taken', () => {
  const sum = sumOf([{ gaps: [1, 2], recents: [0.25] }, { requests: 1 }, { gaps: [30], fills: [0.9] }])
  expect(figuresOf(sum)).toMatchObject({
    gap: { tenth: 1, median: 2 },
    recent: { tenth: 25, median: 25 },
    fill: { tenth: 0.9, median: 0.9 },
  })
})

test('each of the three zeros counts on its own, and a refusal only where it taught nothing', () => {
  expect(isWorkable(sumOf([{ requests: 5, beyond: 1 }]))).toBe(true)
  for (const zero of ['newestAbsent', 'samePrompt', 'taskGone'])
    expect(isWorkable(sumOf([{ requests: 5 }, { [zero]: 1 }]))).toBe(false)
  expect(isSound(sumOf([{ refused: 1 }]))).toBe(false)
  expect(isSound(sumOf([{ refused: 1 }]), true)).toBe(true)
  expect(isSound(sumOf([{ refused: 1, errors: 1 }]), true)).toBe(false)
})

test('gaps lie between compactions, and fill is the largest prompt before each', () => {
  const beats = [400, 900, -500, 700, 950, 800, -600, -300, 500].map((prompt) => ({
    isCompacted: prompt < 0,
    promptTokens: Math.abs(prompt),
  }))
  expect(rhythmOf(beats, 1000)).toEqual({ gaps: [4, 1], fills: [0.9, 0.95, 0.6] })
  expect(rhythmOf(beats.slice(0, 2), 1000)).toEqual({ gaps: [], fills: [] })
})
