import { expect, test } from 'vitest'
import { costsOf, openGains, type Costs, type ScoredMoment } from './gains.ts'
import type { Label } from './written.ts'

const label = (part: Label['part'], isDecided = false): Label => ({ part, isDecided })
const flat = (cost: number): Costs => ({
  all: cost,
  decided: cost / 2,
  name: cost,
  arguments: cost,
  text: cost,
})
const moment = (conversation: string, row: number, nothing = 10, everything = 2): ScoredMoment => ({
  id: `${conversation}@${row}`,
  conversation,
  rows: new Map([
    ['row', flat(row)],
    ['nothing', flat(nothing)],
  ]),
  nothing: flat(nothing),
  everything: flat(everything),
})

const gain = (...moments: readonly ScoredMoment[]) => openGains(moments).gain('row', 'all').value

test('costs are summed by part, without frames; what was not scored counts for nothing', () => {
  const labels = [
    label('text'),
    label('text', true),
    label('frame'),
    label('name'),
    label('arguments', true),
    label('arguments'),
  ]
  expect(costsOf([-1, -2, -4, -8, -16], labels)).toEqual({
    all: 27,
    decided: 18,
    name: 8,
    arguments: 16,
    text: 3,
  })
})

test('a gain is a ratio of sums: 1 is everything, 0 nothing, and less than nothing is below', () => {
  expect([gain(moment('a', 2)), gain(moment('a', 10)), gain(moment('a', 14))]).toEqual([1, 0, -0.5])
  // (4 + 0) of (8 + 32), not the mean of a half and nothing.
  expect(gain(moment('a', 6), moment('b', 34, 34, 2))).toBe(0.1)
  expect(openGains([moment('a', 2, 5, 5)]).gain('row', 'all').value).toBeNaN()
  expect(openGains([moment('a', 4)]).gain('row', 'decided').value).toBe(0.75)
})

test('intervals come from whole conversations: many moments of one are no evidence', () => {
  const alike = Array.from({ length: 50 }, () => moment('a', 6))
  expect(openGains(alike).gain('row', 'all')).toEqual({ value: 0.5, low: 0.5, high: 0.5 })
  const spread = Array.from({ length: 40 }, (_, place) => moment(`${place}`, place % 2 === 0 ? 4 : 8))
  const wide = openGains(spread.slice(0, 8)).gain('row', 'all')
  const narrow = openGains(spread).gain('row', 'all')
  expect([wide.value, narrow.value]).toEqual([0.5, 0.5])
  // The deviation of a mean of n draws of 1/4 and 3/4 is 1/4 / √n.
  expect(narrow.high - narrow.low).toBeGreaterThan((0.8 * 4 * 0.25) / Math.sqrt(40))
  expect(narrow.high - narrow.low).toBeLessThan((1.2 * 4 * 0.25) / Math.sqrt(40))
  expect(wide.high - wide.low).toBeGreaterThan(1.8 * (narrow.high - narrow.low))
  expect(openGains(spread).gain('row', 'all')).toEqual(narrow)
})
