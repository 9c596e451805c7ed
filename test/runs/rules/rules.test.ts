import { expect, test } from 'vitest'
import { loadCounter } from '../../../src/tokens/encodings.ts'
import { makeChat, type AskedRule } from './chat.ts'
import type { Half } from './phrasing.ts'
import { isEnough, shownViews } from './tally.ts'
import { walkChat, type OrderReport, type RuleReport, type Strategy } from './walk-chat.ts'

const nothing = { old: null, refersTo: null }
const rule: AskedRule = { form: 'prohibition', language: 'en', place: 'alone', says: 'Never.', ...nothing }
const held = (count: number): RuleReport => ({ rule, asked: 5, held: count, referred: null })

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

test('95 of a hundred are enough, 94 are not', () => {
  expect([95, 94].map((count) => isEnough({ asked: 100, held: count }))).toEqual([true, false])
})

test('views of the half kept apart are shown to nobody who did not ask for it alone', () => {
  const [apart, known] = [
    reportOf('apart', 'truncate', 8192, [held(0)]),
    reportOf('known', 'truncate', 8192, [held(5)]),
  ]
  expect(shownViews([apart, known], 5)).toMatch(/^(?!.*view of apart).*The view of known\./s)
  expect(shownViews([apart], 5)).toContain('The view of apart.')
  expect(shownViews([apart], 0)).toBe('')
})

test('every rule stands in the view of a window that the whole chat fits', async () => {
  const { count } = await loadCounter('o200k_base')
  for (const number of [0, 1, 2]) {
    const chat = makeChat({ half: 'known', number, seed: 2, tokens: 6000 }, count)
    const report = await walkChat({ chat, strategy: 'truncate', windowTokens: 64_000, count })
    expect(report).toMatchObject({ failed: 0, refused: 0 })
    expect(report.rules.map(({ asked, held: times }) => [asked, times])).toEqual(chat.rules.map(() => [5, 5]))
    expect(report.view.map(({ content }) => content)).toEqual(chat.messages.map(({ content }) => content))
  }
})
