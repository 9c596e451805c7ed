import { expect, test } from 'vitest'
import { createFailures } from '../../src/activity/failures.ts'
import { arrivalNow } from '../../src/http/bare-report.ts'

// For a while the clock was read unprotected: one that threw ended the request that asked for the time.
test('a clock that fails costs a report its time, and is counted', () => {
  const failed: string[] = []
  const failures = createFailures((part) => failed.push(part))
  expect(arrivalNow({ failures, nowMs: noTime })).toEqual({ atMs: 0, monotonicMs: expect.any(Number) })
  expect(failed).toEqual(['observation'])
})

function noTime(): number {
  throw new RangeError('no time')
}
