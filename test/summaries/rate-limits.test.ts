import { expect, test } from 'vitest'
import { createRateLimits } from '../../src/summaries/rate-limits.ts'

const MINUTE_MS = 60_000

const payer = { upstream: 'default', credential: 'c1' }

// Summaries of an upstream whose key had been changed for a fresh one waited for the old one's limit to pass.
test('a limit is that of a credential, and of the key that Foldgate holds in its place', () => {
  let mark = 'first'
  const limits = createRateLimits({ nowMs: () => 0, heldKeyMark: () => mark })
  limits.note({ upstream: 'default', credential: 'ada' }, 5_000)
  expect(limits.isLimited({ upstream: 'default', credential: 'ada' })).toBe(true)
  expect(limits.isLimited({ upstream: 'default', credential: 'ben' })).toBe(false)
  expect(limits.isLimited({ upstream: 'cheap', credential: 'ada' })).toBe(false)
  mark = 'second'
  expect(limits.isLimited({ upstream: 'default', credential: 'ada' })).toBe(false)
})

// The clock was a day ahead until it was corrected, and a summary model that had said 429 by then was asked for none
// until that day was over.
test('a limit that was noted before the clock went back ends in time all the same', () => {
  let nowMs = 2_000 * MINUTE_MS
  const limits = createRateLimits({ nowMs: () => nowMs, heldKeyMark: () => '' })
  limits.note(payer, 20_000)
  nowMs -= 1_440 * MINUTE_MS
  expect(limits.isLimited(payer)).toBe(true)
  nowMs += 10 * MINUTE_MS
  expect(limits.isLimited(payer)).toBe(false)
})
