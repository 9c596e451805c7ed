import { expect, test } from 'vitest'
import { bytesInSteps } from '../../../src/pipeline/send/outgoing-body.ts'

// A view with an image of fifteen megabytes was encoded in one go, and held the loop for sixty milliseconds.
test.each(['a', 'é', '漢', '😀', 'x😀'])('a long text of %s is whole, and encoded with pauses', (unit) => {
  const text = unit.repeat(5_000_000 / unit.length)
  let pauses = 0
  const steps = bytesInSteps(Buffer.alloc(0), [text])
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) {
      expect(step.value.equals(Buffer.from(text))).toBe(true)
      break
    }
    pauses += 1
  }
  expect(pauses).toBeGreaterThanOrEqual(4)
})
