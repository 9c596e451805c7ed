import { expect, test } from 'vitest'
import { createFailures } from '../../src/activity/failures.ts'

function failing(): never {
  throw new Error('it failed')
}

// The journal is told of failures and asks the clock: where that failed, the request failed with it.
test('whoever is told of a failure, and fails at that, harms nobody; it is counted all the same', async () => {
  const failures = createFailures(failing)
  expect(failures.attempt('measure', 'instead', failing)).toBe('instead')
  expect(await failures.around('store', 'instead', async () => failing())).toBe('instead')
  failures.note('summary', new Error('it failed'))
  expect(failures.counts()).toEqual({ measure: 1, store: 1, summary: 1 })
})
