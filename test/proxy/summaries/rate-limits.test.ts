import { expect, test } from 'vitest'
import { createRateLimits } from '../../../src/proxy/summaries/rate-limits.ts'

const MINUTE_MS = 60_000

const payer = { upstream: 'default', credential: 'c1' }

// The clock was a day ahead until it was corrected, and a summary model that had said 429 by then was asked for none
// until that day was over.
test('a limit that was noted before the clock went back ends in time all the same', () => {
  let nowMs = 2_000 * MINUTE_MS
  const limits = createRateLimits(() => nowMs)
  limits.note(payer, 20_000)
  nowMs -= 1_440 * MINUTE_MS
  expect(limits.isLimited(payer)).toBe(true)
  nowMs += 10 * MINUTE_MS
  expect(limits.isLimited(payer)).toBe(false)
})
