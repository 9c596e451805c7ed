import { describe, expect, test } from 'vitest'
import { lowestThresholdTokens } from '../../../src/compaction/due.ts'
import { runsAlways, textPasses, withoutStarts } from '../../../src/compaction/passes/passes.ts'
import { runAtOnce } from '../../../src/json/source.ts'
import { profileOf } from '../../support/subject.ts'

const lines = Array.from(
  { length: 4_000 },
  (_, line) => `\u001B[32mline ${line} of an output\u001B[0m   `,
).join('\n')

// A third pass was put into the list to try it: it compiled and passed every test, and what was written by hand beside the list
// went on without it. Its threshold never made a compaction due, and at zero it did nothing.
describe.each(textPasses.map((pass) => [pass.name, pass] as const))('the pass %s', (name, pass) => {
  const at = (start: number | null) => profileOf({ trigger: 0.9, target: 0.5, [name]: { at: start } })

  test('makes a compaction due where it begins, and needs none at zero', () => {
    expect(lowestThresholdTokens(at(0.2), 10_000, 0)).toBe(2_000)
    expect(lowestThresholdTokens(at(null), 10_000, 0)).toBe(9_000)
    expect(lowestThresholdTokens(at(0), 10_000, 0)).toBe(9_000)
    expect([0, 0.2, null].map((start) => runsAlways(at(start)))).toEqual([true, false, false])
  })

  test('begins with the trigger for a model that only stands in', () => {
    expect(withoutStarts(at(0))[name].at).toBeNull()
  })

  test('writes the same again, and no more than there was', () => {
    const about = { profile: at(0), sizeTokens: 40_000, number: '#7' }
    const edited = runAtOnce(pass.edited(lines, about))
    expect(edited.length).toBeLessThan(lines.length)
    expect(runAtOnce(pass.edited(lines, about))).toBe(edited)
  })

  test('stands behind those that lose nothing, if it loses something', () => {
    const behind = textPasses.slice(textPasses.indexOf(pass) + 1)
    expect(pass.losesText && behind.some((each) => !each.losesText)).toBe(false)
  })
})
