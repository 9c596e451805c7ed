import { describe, expect, test } from 'vitest'
import { budgetOf, isSensibleLimit, thresholdTokens } from '../../src/tokens/budget.ts'

describe('the budget', () => {
  test('is the window less the reserve', () => {
    expect(budgetOf({ windowTokens: 16_000, kind: 'total', reserveTokens: 4096 })).toBe(11_904)
  })

  test('is never less than half of a total window, however large an output the request asks for', () => {
    expect(budgetOf({ windowTokens: 8192, kind: 'total', reserveTokens: 100_000 })).toBe(4096)
  })

  test('is the whole of a window that counts the prompt only', () => {
    expect(budgetOf({ windowTokens: 272_000, kind: 'input', reserveTokens: 128_000 })).toBe(272_000)
  })

  test('can be divided by, even where the window is nonsense', () => {
    expect(budgetOf({ windowTokens: 0, kind: 'total', reserveTokens: 0 })).toBe(1)
  })
})

test.each([
  { limit: 500, isSensible: true },
  { limit: null, isSensible: false },
  { limit: 0, isSensible: false },
  { limit: -1, isSensible: false },
  { limit: Number.NaN, isSensible: false },
  { limit: Number.POSITIVE_INFINITY, isSensible: false },
])('an output limit of $limit says how much is to be kept free: $isSensible', ({ limit, isSensible }) => {
  expect(isSensibleLimit(limit)).toBe(isSensible)
})

describe('a threshold', () => {
  test('as a ratio applies to what the fixed parts leave', () => {
    expect(thresholdTokens(0.75, 12_000, 0)).toBe(9000)
    expect(thresholdTokens(0.75, 12_000, 4000)).toBe(10_000)
    expect(thresholdTokens(0, 12_000, 4000)).toBe(4000)
    expect(thresholdTokens(1, 12_000, 4000)).toBe(12_000)
  })

  test('above 1 is tokens of the whole prompt', () => {
    expect(thresholdTokens(5000, 12_000, 4000)).toBe(5000)
  })

  test('is never above the budget', () => {
    expect(thresholdTokens(50_000, 12_000, 0)).toBe(12_000)
    expect(thresholdTokens(0.5, 12_000, 20_000)).toBe(12_000)
  })
})
