import { expect, test } from 'vitest'
import {
  ago,
  boundedFigure,
  clock,
  plural,
  duration,
  figure,
  moment,
  money,
  percent,
} from '../../../src/admin/page/figures.ts'
import { before, now } from './made-up.ts'

test('what is not known is a dash, and a bound is no count', () => {
  expect([figure(null), figure(12_345.4), boundedFigure(900, true), boundedFigure(null, true)]).toEqual([
    '–',
    '12,345',
    '≤ 900',
    '–',
  ])
})

test.each([
  [0.699_9, '69%'],
  [0.7, '70%'],
  [0.29, '29%'],
  [0.999, '99%'],
  [3.4, '340%'],
  [12.5, '1,250%'],
])('a pressure of %s is %s: none is shown as having reached what it has not', (ratio, shown) => {
  expect(percent(ratio)).toBe(shown)
})

test.each([
  [21.4, '21.40'],
  [1_234.567, '1,234.57'],
  [0.004_21, '0.0042'],
  [-3, '-3.00'],
  [0, '0.00'],
])('an amount of %s is %s', (amount, shown) => {
  expect(money(amount)).toBe(shown)
})

test.each([
  [4, 'just now'],
  [-30, 'just now'],
  [60, '1 min ago'],
  [3_599, '59 min ago'],
  [7_200, '2 h ago'],
  [86_400, '19 Nov'],
])('%s seconds ago is %s', (seconds, shown) => {
  expect(ago(before(seconds), now)).toBe(shown)
})

test('times are in UTC, with the day where it is another', () => {
  expect(clock(before(38), now)).toBe('14:29:22')
  expect(clock(before(86_400), now)).toBe('19 Nov 14:30:00')
  expect(moment(before(0))).toBe('20 Nov 2026, 14:30 UTC')
})

test('what is no time is shown as it stands', () => {
  for (const show of [ago, clock]) expect(show('yesterday', now)).toBe('yesterday')
  expect(moment('yesterday')).toBe('yesterday')
})

test('words and times have the form of their number', () => {
  expect([plural(1, 'request'), plural(1_200, 'token')]).toEqual(['1 request', '1,200 tokens'])
  expect([duration(38.4), duration(1_440), duration(180_000), duration(null)]).toEqual([
    '38 ms',
    '1.4 s',
    '3 min',
    '–',
  ])
})
