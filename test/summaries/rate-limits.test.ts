import { expect, test } from 'vitest'
import { createRateLimits } from '../../src/summaries/rate-limits.ts'

const payer = { upstream: 'default', credential: 'c1' }

// Summaries of an upstream whose key had been changed for a fresh one waited for the old one's limit to pass.
test('a limit is that of a credential, and of the key that Foldgate holds in its place', () => {
  let mark = 'first'
  const limits = createRateLimits(() => mark)
  limits.note({ upstream: 'default', credential: 'ada' }, 5_000)
  expect(limits.isLimited({ upstream: 'default', credential: 'ada' })).toBe(true)
  expect(limits.isLimited({ upstream: 'default', credential: 'ben' })).toBe(false)
  expect(limits.isLimited({ upstream: 'cheap', credential: 'ada' })).toBe(false)
  mark = 'second'
  expect(limits.isLimited({ upstream: 'default', credential: 'ada' })).toBe(false)
})

test('a limit ends in time, also one that asks for no time at all', async () => {
  const limits = createRateLimits(() => '')
  for (const retryAfterMs of [50, 0]) {
    limits.note(payer, retryAfterMs)
    await expect.poll(() => limits.isLimited(payer)).toBe(false)
  }
})
