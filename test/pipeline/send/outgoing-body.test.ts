import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { finish } from '../../../src/json/source.ts'
import { bytesInSteps, bytesOf } from '../../../src/pipeline/send/outgoing-body.ts'
import { anyCharacter } from '../../support/any-character.ts'

const original = Buffer.from('{"model":"m","messages":[{"role":"user","content":"é"}]}')

// A view with an image of fifteen megabytes was encoded in one go, and held the loop for sixty milliseconds.
test('what is put together in steps is what is put together at once', () => {
  const span = fc.tuple(fc.nat(original.length), fc.nat(original.length)).map(([a, b]) => ({
    start: Math.min(a, b),
    end: Math.max(a, b),
  }))
  fc.assert(
    fc.property(fc.array(fc.oneof(span, fc.string({ unit: anyCharacter }))), (pieces) => {
      expect(finish(bytesInSteps(original, pieces)).equals(bytesOf(original, pieces))).toBe(true)
    }),
  )
})

test.each(['a', 'é', '漢', '😀', 'x😀'])('a long text of %s is whole, and encoded with pauses', (unit) => {
  const text = unit.repeat(5_000_000 / unit.length)
  let pauses = 0
  const steps = bytesInSteps(original, [text])
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) {
      expect(step.value.equals(Buffer.from(text))).toBe(true)
      break
    }
    pauses += 1
  }
  expect(pauses).toBeGreaterThanOrEqual(4)
})
