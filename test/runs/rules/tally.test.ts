import { expect, test } from 'vitest'
import type { AskedRule } from './chat.ts'
import type { Half } from './phrasing.ts'
import type { OrderReport } from './run-order.ts'
import { shownViews } from './shown-view.ts'
import { tableOf } from './table.ts'
import { groupsOf, isEnough } from './tally.ts'
import type { RuleReport, Strategy } from './walk-chat.ts'

const rule: AskedRule = {
  form: 'prohibition',
  language: 'en',
  place: 'alone',
  says: 'Never.',
  old: null,
  refersTo: null,
}

function reportOf(
  half: Half,
  strategy: Strategy,
  windowTokens: number,
  rules: readonly RuleReport[],
): OrderReport {
  const chat = { half, number: 0, seed: 1, tokens: 3 * windowTokens }
  const view = [{ role: 'user', content: `The view of ${half}.` }]
  return { order: { chat, strategy, windowTokens }, rules, requests: 9, failed: 0, refused: 0, view }
}

const held = (count: number): RuleReport => ({ rule, asked: 5, held: count, referred: null })
const choice: RuleReport = {
  rule: { ...rule, form: 'choice', place: 'last', language: 'de', refersTo: 'the text' },
  asked: 5,
  held: 5,
  referred: 1,
}

test('a table for each window and strategy, a row for each form, a column for each half', () => {
  const groups = groupsOf([
    reportOf('known', 'summarize', 32_000, [held(0)]),
    reportOf('known', 'truncate', 8192, [held(3), choice]),
    reportOf('apart', 'truncate', 8192, [held(5)]),
    reportOf('known', 'truncate', 8192, [held(4)]),
  ])
  expect(groups.map(({ windowTokens, strategy }) => [windowTokens, strategy])).toEqual([
    [8192, 'truncate'],
    [32_000, 'summarize'],
  ])
  const [small] = groups.map(tableOf)
  const lines = small?.trim().split('\n')
  expect(lines?.[0]).toBe('truncate: window 8,192, chats of 24,576 tokens')
  const rowOf = (name: string) =>
    lines
      ?.find((line) => line.trim().startsWith(name))
      ?.trim()
      .split(/ {2,}/)
  expect(rowOf('prohibition')).toEqual(['prohibition', '7 of 10', '70.0 %', '5 of 5', '100.0 %'])
  expect(rowOf('choice')).toEqual(['choice', '5 of 5', '100.0 %', '–'])
  expect(rowOf('total')).toEqual(['total', '12 of 15', '80.0 %', '5 of 5', '100.0 %'])
  expect(rowOf('last in one')).toEqual(['last in one', '5 of 5', '100.0 %', '–'])
  expect(rowOf('what they refer to')).toEqual(['what they refer to', '1 of 5', '20.0 %', '–'])
})

test('95 of a hundred are enough, 94 are not', () => {
  expect(isEnough({ asked: 100, held: 95 })).toBe(true)
  expect(isEnough({ asked: 100, held: 94 })).toBe(false)
})

test('views of the half kept apart are shown to nobody who did not ask for it alone', () => {
  const reports = [
    reportOf('apart', 'truncate', 8192, [held(0)]),
    reportOf('known', 'truncate', 8192, [held(5)]),
  ]
  expect(shownViews(reports, 5)).toContain('The view of known.')
  expect(shownViews(reports, 5)).not.toContain('The view of apart.')
  expect(shownViews(reports.slice(0, 1), 5)).toContain('The view of apart.')
  expect(shownViews(reports, 0)).toBe('')
})
