import { describe, expect, test } from 'vitest'
import { budgetOf, needsNoCount, pressureOf, reserveFor, thresholdTokens } from '../../src/tokens/budget.ts'

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
    expect(pressureOf(10, budgetOf({ windowTokens: 0, kind: 'total', reserveTokens: 0 }))).toBe(10)
  })
})

test.each([
  { requestLimitTokens: 500, reserve: 500 },
  { requestLimitTokens: null, reserve: 4096 },
  { requestLimitTokens: 0, reserve: 4096 },
  { requestLimitTokens: -1, reserve: 4096 },
  { requestLimitTokens: Number.NaN, reserve: 4096 },
  { requestLimitTokens: Number.POSITIVE_INFINITY, reserve: 4096 },
])('an output limit of $requestLimitTokens reserves $reserve', ({ requestLimitTokens, reserve }) => {
  expect(reserveFor({ requestLimitTokens, profileReserveTokens: 4096 })).toBe(reserve)
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

describe('a body is not counted', () => {
  const body = { bodyBytes: 8000, ratio: 1.15, triggerTokens: 10_000, hasMedia: false }

  test('when its bytes cannot make enough tokens', () => {
    expect(needsNoCount(body)).toBe(true)
    expect(needsNoCount({ ...body, bodyBytes: 9000 })).toBe(false)
  })

  test('unless it holds media, whose cost is not in their bytes', () => {
    expect(needsNoCount({ ...body, hasMedia: true })).toBe(false)
  })
})
