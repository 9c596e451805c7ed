import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sentPrompt } from './counts/sent-prompt.ts'
import { cutBounds, narrowed, windowWithin, type CutBounds } from '../../src/models/cut-prompt.ts'

/** What a server with this window reports of messages, all of them counted as we count: it drops the oldest. */
function boundsOf(windowTokens: number, messages: readonly number[]): CutBounds | null {
  const all = messages.reduce((sum, each) => sum + each, 0)
  let left = all
  for (const each of messages.slice(0, -1)) {
    if (left <= windowTokens) break
    left -= each
  }
  return cutBounds({
    promptTokens: Math.min(left, windowTokens),
    expectedTokens: all,
    sent: sentPrompt(all, { messageTokens: messages }),
    beginnings: [],
  })
}

const sizes = fc.array(fc.integer({ min: 50, max: 1500 }), { minLength: 12, maxLength: 40 })
const windowTokens = fc.constantFrom(4096, 6000, 8192, 10_000, 12_000)

describe('what a cut prompt says of the window', () => {
  test('bounds it from both sides', () => {
    fc.assert(
      fc.property(windowTokens, sizes, (window, messages) => {
        const bounds = boundsOf(window, messages)
        if (bounds === null) return
        expect(bounds.fitsTokens).toBeLessThanOrEqual(window)
        expect(bounds.exceedsTokens).toBeGreaterThan(window)
      }),
    )
  })

  test('is nothing, if nothing is missing', () => {
    expect(boundsOf(8192, [1000, 2000, 3000])).toBeNull()
  })

  test('is the window itself, if the newest message alone exceeds it', () => {
    const bounds = boundsOf(4096, [200, 9000])
    expect(bounds === null ? null : windowWithin(bounds)).toEqual({ tokens: 4096, kind: 'total' })
  })
})

test('a window is guessed within its bounds, and the rounder number before the nearer', () => {
  expect(windowWithin({ fitsTokens: 3700, exceedsTokens: 4300, cuts: 1 })?.tokens).toBe(4096)
  expect(windowWithin({ fitsTokens: 5700, exceedsTokens: 6100, cuts: 1 })?.tokens).toBe(6000)
  expect(windowWithin({ fitsTokens: 9500, exceedsTokens: 10_100, cuts: 1 })?.tokens).toBe(10_000)
  expect(windowWithin({ fitsTokens: 5311, exceedsTokens: 5312, cuts: 1 })).toEqual({
    tokens: 5311,
    kind: 'input',
  })
  fc.assert(
    fc.property(fc.integer({ min: 1024, max: 200_000 }), fc.integer({ min: 1, max: 5000 }), (fits, more) => {
      const tokens = windowWithin({ fitsTokens: fits, exceedsTokens: fits + more, cuts: 3 })?.tokens ?? 0
      expect(tokens).toBeGreaterThanOrEqual(fits)
      expect(tokens).toBeLessThan(fits + more)
    }),
  )
})

test('bounds that lie far apart say nothing before a second prompt was cut', () => {
  const wide = { fitsTokens: 4100, exceedsTokens: 8300 }
  expect([1, 2].map((cuts) => windowWithin({ ...wide, cuts })?.tokens ?? null)).toEqual([null, 8192])
})

test('two cut prompts say more than one, and the newer is right if they contradict each other', () => {
  const one = { fitsTokens: 3000, exceedsTokens: 5000, cuts: 1 }
  expect(narrowed(one, { fitsTokens: 3900, exceedsTokens: 6000, cuts: 1 })).toEqual({
    fitsTokens: 3900,
    exceedsTokens: 5000,
    cuts: 2,
  })
  const now = { fitsTokens: 7000, exceedsTokens: 8500, cuts: 1 }
  expect(narrowed(one, now)).toEqual(now)
})
