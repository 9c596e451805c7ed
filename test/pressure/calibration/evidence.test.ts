import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createCalibration, type Calibration } from '../../../src/pressure/calibration/calibration.ts'

const open = () => createCalibration({ namesMax: 10, promptsMax: 100 })

/** So many prompts with these surroundings, counted as `ratio` times ours and 300 beside. */
function counted(requests: number, ratio: number, aroundTokens = 500): Calibration {
  const calibration = open()
  for (let index = 1; index <= requests; index += 1) {
    const counts = {
      ownTokens: aroundTokens + index * 2000,
      aroundTokens,
      looseTokens: 0,
      conversationTokens: index * 2000,
    }
    const before = calibration.anchorAt('a', [
      { prompt: `p${index - 1}`, conversationTokens: (index - 1) * 2000 },
    ])
    calibration.observe('a', `p${index}`, {
      textBytes: counts.ownTokens * 4,
      counted: counts,
      promptTokens: Math.round(counts.ownTokens * ratio) + 300,
      answeredBy: 'm',
      since: before?.anchor ?? null,
      hasCountedCached: index > 1,
    })
  }
  return calibration
}

const stored = (calibration: Calibration): unknown => JSON.parse(JSON.stringify(calibration.snapshot('a')))

function joined(known: Calibration, other: Calibration): Calibration {
  known.restore('a', stored(other), 'beside')
  return known
}

describe('what answers taught of a count, carried over', () => {
  test('is what it was: ratio, overhead and habits', () => {
    const before = counted(10, 1.4)
    const after = open()
    after.restore('a', stored(before), 'instead')
    expect(after.rateOf('a', 1, 500)).toEqual(before.rateOf('a', 1, 500))
    expect(after.rateOf('a', 1, 500).ratio).toBeGreaterThan(1.3)
    expect(after.habitsOf('a')).toEqual(before.habitsOf('a'))
    expect(after.habitsOf('a').hasCounted).toBe(true)
    expect(after.rateOf('b', 1, 500).ratio).toBe(1)
  })

  test('does not hold the prompts themselves', () => {
    const after = open()
    after.restore('a', stored(counted(3, 1.4)), 'instead')
    expect(after.anchorAt('a', [{ prompt: 'p3', conversationTokens: 6000 }])).toBeNull()
  })

  test('is nothing where nothing was counted', () => {
    const calibration = open()
    calibration.pass('a', 'p', { textBytes: 100, counted: null, promptTokens: null, answeredBy: null })
    calibration.notePartial('a')
    expect(calibration.snapshot('a')).toBeNull()
  })

  test('goes on being learnt from', () => {
    const after = joined(open(), counted(3, 1.4))
    const { ratio } = after.rateOf('a', 1, 500)
    const anchor = { ownTokens: 500, aroundTokens: 500, looseTokens: 0, conversationTokens: 0 }
    after.observe('a', 'q', {
      textBytes: 80_000,
      counted: { ...anchor, ownTokens: 20_500, conversationTokens: 20_000 },
      promptTokens: 20_500,
      answeredBy: 'm',
      since: { ...anchor, promptTokens: 500, answeredBy: 'm' },
      hasCountedCached: true,
    })
    expect(after.rateOf('a', 1, 500).ratio).toBeLessThan(ratio)
  })
})

describe('of two that have counted', () => {
  test('the one with more evidence is believed', () => {
    const much = counted(12, 1.4)
    const little = counted(2, 1.1)
    const { ratio } = much.rateOf('a', 1, 500)
    expect(joined(counted(2, 1.1), much).rateOf('a', 1, 500).ratio).toBe(ratio)
    expect(joined(counted(12, 1.4), little).rateOf('a', 1, 500).ratio).toBe(ratio)
  })

  test('the surroundings that only the other has seen stay known', () => {
    const both = joined(counted(12, 1.4), counted(2, 1.4, 5000))
    expect(both.rateOf('a', 1, 5000).overheadDoubtTokens).toBeLessThan(Infinity)
    expect(both.rateOf('a', 1, 500).overheadDoubtTokens).toBeLessThan(Infinity)
  })
})

describe('a snapshot that is damaged changes nothing', () => {
  const sound = counted(2, 1.4).snapshot('a')
  const growth = { promptTokens: 1, ownTokens: 1, startingTokens: 1 }
  const damaged: readonly unknown[] = [
    undefined,
    'text',
    {},
    { ...sound, prompts: 'many' },
    { ...sound, growth: { ...growth, promptTokens: null } },
    // No ratio comes of it.
    { ...sound, growth: { ...growth, ownTokens: 0, startingTokens: 0 } },
    { ...sound, habits: null },
    { ...sound, overheads: [[500, []]] },
    { ...sound, overheads: [[500, [[1, -2]]]] },
    { ...sound, overheads: Array.from({ length: 100 }, (_, index) => [index, [[1, 2]]]) },
  ]
  test.each(damaged)('%j', (snapshot) => {
    for (const how of ['instead', 'beside'] as const) {
      const calibration = counted(2, 1.4)
      const before = stored(calibration)
      calibration.restore('a', snapshot, how)
      expect(stored(calibration)).toEqual(before)
    }
  })

  test('whatever it is, rates are numbers', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (snapshot) => {
        const calibration = open()
        calibration.restore('a', snapshot, 'beside')
        expect(calibration.rateOf('a', 1, 500).ratio).toBeGreaterThan(0)
      }),
    )
  })
})

test('a snapshot stays small, however many surroundings were seen', () => {
  const calibration = open()
  for (let around = 1; around <= 200; around += 1) joined(calibration, counted(2, 1.4, around * 1000))
  expect(JSON.stringify(calibration.snapshot('a')).length).toBeLessThan(4096)
})
