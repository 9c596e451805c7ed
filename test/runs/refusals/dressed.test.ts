import { expect, test } from 'vitest'
import { propertyRuns } from '../../support/property-runs.ts'
import { judgeDressed, knownRefusals, madeUpRefusals } from './dressed.ts'

// The story: gateways put ids, advice, retry counts and addresses around what a server said, and of 113 refusals dressed so 89
// were read right; from `<400>` before one a window of 400 tokens was learnt.
test('what gateways put around a refusal neither hides it nor adds a window', () => {
  const runs = propertyRuns(2_000)
  const known = judgeDressed(knownRefusals, 40, runs)
  expect(known.missed.length / known.overflows).toBeLessThanOrEqual(0.02)
  expect(known.mistaken).toEqual([])
  expect(known.falseWindows).toEqual([])
  const all = judgeDressed([...knownRefusals, ...madeUpRefusals], 41, runs)
  expect(all.missed.length / all.overflows).toBeLessThanOrEqual(0.05)
  expect(all.mistaken).toEqual([])
  expect(all.falseWindows).toEqual([])
})
