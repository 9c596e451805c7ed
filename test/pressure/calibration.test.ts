import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  createCalibration,
  excessOf,
  expectedTokens,
  type Anchor,
  type Calibration,
} from '../../src/pressure/calibration.ts'

const fresh = () => createCalibration({ namesMax: 10, anchorsMax: 100 })

function prompt(ownTokens: number, promptTokens: number, other: Partial<Anchor> = {}): Anchor {
  return {
    ownTokens,
    promptTokens,
    aroundTokens: 500,
    mediaTokens: 0,
    looseTokens: 0,
    answeredBy: 'm',
    ...other,
  }
}

/** A conversation that grows by `growth` own tokens a request, counted by `count`. */
function converse(
  calibration: Calibration,
  requests: number,
  growth: number,
  count: (own: number) => number,
): void {
  let since: Anchor | null = null
  for (let index = 1; index <= requests; index += 1) {
    const own = 600 + index * growth
    const sent = prompt(own, count(own))
    calibration.observe('a', { prefix: `p${index}`, prompt: sent, since })
    since = sent
  }
}

test('before any answer a family is taken at its own ratio', () => {
  expect(fresh().rateOf('a', 1.2, 500)).toEqual({
    ratio: 1.2,
    overheadTokens: 0,
    isCalibrated: false,
    overheadDoubtTokens: Infinity,
  })
})

test('the ratio is what conversations grow by, whatever the provider adds to each prompt', () => {
  const calibration = fresh()
  converse(calibration, 10, 3000, (own) => 2500 + Math.round(own * 1.4))
  const { ratio, isCalibrated } = calibration.rateOf('a', 1, 500)
  expect(ratio).toBeGreaterThan(1.37)
  expect(ratio).toBeLessThan(1.43)
  expect(isCalibrated).toBe(true)
})

test('what the provider adds to each prompt is known in the next conversation with the same surroundings', () => {
  const calibration = fresh()
  converse(calibration, 10, 3000, (own) => 2500 + Math.round(own * 1.2))
  const rate = calibration.rateOf('a', 1, 500)
  const expected = expectedTokens(800, rate, null)
  expect(expected).toBeGreaterThan(2500)
  expect(expected).toBeLessThan(3800)
  expect(calibration.rateOf('a', 1, 499).overheadTokens).toBe(0)
})

test('texts that are a little denser than others are no hidden addition', () => {
  const calibration = fresh()
  converse(calibration, 10, 3000, (own) => Math.round(own * 1.05))
  expect(calibration.rateOf('a', 1, 500).overheadTokens).toBe(0)
})

test('of a prompt that begins with one that was counted only the rest is estimated', () => {
  const calibration = fresh()
  const counted = prompt(50_000, 61_234)
  calibration.observe('a', { prefix: 'p1', prompt: counted, since: null })
  const { counted: found } = calibration.lookBack('a', ['p3', 'p2', 'p1', 'p0'])
  expect(found).toEqual({ index: 2, anchor: counted })
  const rate = calibration.rateOf('a', 1, 500)
  expect(expectedTokens(50_000, rate, counted)).toBe(61_234)
  expect(expectedTokens(50_100, rate, counted)).toBeLessThan(61_234 + 130)
})

test('the excess of a prompt brings our count to the provider’s, with a margin on what it has not counted', () => {
  const calibration = fresh()
  const anchor = prompt(40_000, 60_000)
  const rate = calibration.rateOf('a', 1.25, 500)
  const countedTokens = 60_000 / 1.25 - 40_000
  expect(excessOf(40_000, rate, anchor)).toEqual({ countedTokens, marginTokens: 0 })
  expect(excessOf(42_000, rate, anchor)).toEqual({ countedTokens, marginTokens: 300 })
})

test('what was answered without a count of use is seen, and never taken for an anchor', () => {
  const calibration = fresh()
  calibration.observe('a', { prefix: 'p1', prompt: prompt(10_000, 11_000), since: null })
  calibration.see('a', 'p2', { ownTokens: 12_000, aroundTokens: 500, mediaTokens: 0, looseTokens: 0 })
  const { counted, seen } = calibration.lookBack('a', ['p2', 'p1'])
  expect(counted?.index).toBe(1)
  expect(seen?.ownTokens).toBe(12_000)
  calibration.see('a', 'p1', { ownTokens: 9, aroundTokens: 9, mediaTokens: 9, looseTokens: 9 })
  expect(calibration.lookBack('a', ['p1']).counted?.anchor.promptTokens).toBe(11_000)
})

test('one name never learns from another', () => {
  const calibration = fresh()
  converse(calibration, 10, 3000, (own) => own * 2)
  expect(calibration.rateOf('b', 1.1, 500)).toEqual({
    ratio: 1.1,
    overheadTokens: 0,
    isCalibrated: false,
    overheadDoubtTokens: Infinity,
  })
  expect(calibration.lookBack('b', ['p1', 'p2']).counted).toBeNull()
})

test('images do not bend the ratio of texts', () => {
  const calibration = fresh()
  const before = prompt(5000, 5000)
  calibration.observe('a', { prefix: 'p1', prompt: before, since: null })
  const ratio = calibration.rateOf('a', 1, 500).ratio
  calibration.observe('a', {
    prefix: 'p2',
    prompt: prompt(7000, 30_000, { mediaTokens: 1600, looseTokens: 1600 }),
    since: before,
  })
  expect(calibration.rateOf('a', 1, 500).ratio).toBe(ratio)
})

test('a server that always reports the same small number teaches nothing', () => {
  const calibration = fresh()
  for (let own = 100; own < 50_000; own += 700) {
    const { counted } = calibration.lookBack('a', [`p${own - 700}`])
    calibration.observe('a', { prefix: `p${own}`, prompt: prompt(own, 10), since: counted?.anchor ?? null })
  }
  expect(calibration.rateOf('a', 1, 500)).toEqual({
    ratio: 1,
    overheadTokens: 0,
    isCalibrated: false,
    overheadDoubtTokens: Infinity,
  })
  expect(calibration.isOddAgain('a', 10)).toBe(false)
  expect(calibration.isOddAgain('a', 10)).toBe(false)
  expect(calibration.isOddAgain('a', 300)).toBe(true)
})

test('after something odd the next prompt is asked for, once', () => {
  const calibration = fresh()
  expect(calibration.wantsCount('a')).toBe(false)
  calibration.askForCount('a')
  expect(calibration.wantsCount('a')).toBe(true)
  converse(calibration, 1, 100, (own) => own)
  expect(calibration.wantsCount('a')).toBe(false)
})

test('whatever a server reports, the ratio stays within what tokenizers do', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ grown: fc.integer({ min: 1, max: 200_000 }), promptTokens: fc.nat() }), {
        maxLength: 30,
      }),
      (answers) => {
        const calibration = fresh()
        let since: Anchor | null = null
        let own = 500
        for (const { grown, promptTokens } of answers) {
          own += grown
          const sent = prompt(own, promptTokens)
          calibration.observe('a', { prefix: String(own), prompt: sent, since })
          since = sent
        }
        const { ratio, overheadTokens } = calibration.rateOf('a', 1.1, 500)
        expect(ratio).toBeGreaterThanOrEqual(1.1 * 0.8)
        expect(ratio).toBeLessThanOrEqual(3)
        expect(Number.isFinite(overheadTokens)).toBe(true)
      },
    ),
  )
})
