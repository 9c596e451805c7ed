import { describe, expect, test } from 'vitest'
import { budgetOf, reserveFor, thresholdTokens } from '../../src/tokens/budget.ts'

const total = (tokens: number) => ({ tokens, kind: 'total' }) as const
const limit = (tokens: number) => ({ tokens, of: 'request' }) as const
const reserve = (tokens: number) => ({ tokens, of: 'profile' }) as const

// The story: of 8,192 tokens the reserve of 4,096 left a prompt 3,982, whatever its reply came to, and a client that asked
// for 32,000 on a window of 32,768 had half of that.
describe('the budget', () => {
  test('is the window less the reserve', () => {
    expect(budgetOf(total(16_384), reserve(4096))).toBe(12_288)
    expect(budgetOf(total(128_000), reserve(4096))).toBe(123_904)
  })

  test("of a profile's reserve no more than a quarter is kept free", () => {
    expect(budgetOf(total(8192), reserve(4096))).toBe(6144)
    expect(budgetOf(total(8192), reserve(4096), true)).toBe(6144)
  })

  test('of a limit up to half of the window all of it is', () => {
    expect(budgetOf(total(8192), limit(500))).toBe(7692)
    expect(budgetOf(total(8192), limit(4096))).toBe(4096)
  })

  test('of a larger limit a quarter is, and half where the server holds it against the window', () => {
    expect(budgetOf(total(8192), limit(32_000))).toBe(6144)
    expect(budgetOf(total(8192), limit(32_000), true)).toBe(4096)
  })

  test('is the whole of a window that counts the prompt only', () => {
    expect(budgetOf({ tokens: 272_000, kind: 'input' }, limit(128_000))).toBe(272_000)
  })

  test('can be divided by, even where the window is nonsense', () => {
    expect(budgetOf(total(0), reserve(0))).toBe(1)
  })
})

test.each([
  { limitTokens: 500.2, kept: limit(501) },
  { limitTokens: null, kept: reserve(4096) },
  { limitTokens: 0, kept: reserve(4096) },
  { limitTokens: -1, kept: reserve(4096) },
  { limitTokens: Number.NaN, kept: reserve(4096) },
  { limitTokens: Number.POSITIVE_INFINITY, kept: reserve(4096) },
])('an output limit of $limitTokens keeps $kept.tokens free', ({ limitTokens, kept }) => {
  expect(reserveFor(limitTokens, 4096)).toEqual(kept)
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
