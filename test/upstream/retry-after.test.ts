import { expect, test } from 'vitest'
import { retryAfterMs } from '../../src/upstream/retry-after.ts'

test('when to come back, in seconds or as a date', () => {
  expect(retryAfterMs('7', 0)).toBe(7000)
  expect(retryAfterMs(' 0.5 ', 0)).toBe(500)
  expect(retryAfterMs('Thu, 01 Jan 1970 00:01:00 GMT', 20_000)).toBe(40_000)
  expect(retryAfterMs('Thu, 01 Jan 1970 00:01:00 GMT', 90_000)).toBe(0)
})

test('is not known where the header says neither', () => {
  for (const header of [null, '', 'soon', '-1', '1e400']) expect(retryAfterMs(header, 0)).toBeNull()
})
