import { expect, test } from 'vitest'
import { loadCounter } from '../../../src/tokens/encodings.ts'
import { makeChat, type AskedRule } from './chat.ts'
import type { Half } from './phrasing.ts'
import { groupsOf, isEnough, shownViews, tableOf } from './tally.ts'
import { strategies, walkChat, type OrderReport, type RuleReport, type Strategy } from './walk-chat.ts'

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

test('a table for each window and strategy, a row for each form, a column for each half', () => {
  const choice: AskedRule = { ...rule, form: 'choice', place: 'last', language: 'de', refersTo: 'the text' }
  const groups = groupsOf([
    reportOf('known', 'summarize', 32_000, [held(0)]),
    reportOf('known', 'truncate', 8192, [held(3), { rule: choice, asked: 5, held: 5, referred: 1 }]),
    reportOf('apart', 'truncate', 8192, [held(5)]),
    reportOf('known', 'truncate', 8192, [held(4)]),
  ])
  expect(groups.map(({ windowTokens }) => windowTokens)).toEqual([8192, 32_000])
  const lines = groups
    .map(tableOf)[0]
    ?.split('\n')
    .map((line) => line.trim().replaceAll(/ {2,}/g, ' | '))
  expect(lines).toEqual(
    expect.arrayContaining([
      'truncate: window 8,192, chats of 24,576 tokens',
      'prohibition | 7 of 10 | 70.0 % | 5 of 5 | 100.0 %',
      'choice | 5 of 5 | 100.0 % | –',
      'total | 12 of 15 | 80.0 % | 5 of 5 | 100.0 %',
      'last in one | 5 of 5 | 100.0 % | –',
      'what they refer to | 1 of 5 | 20.0 % | –',
    ]),
  )
})

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

test.each(strategies)(
  'with %s, a chat beyond the window is compacted, and nothing is refused',
  async (strategy) => {
    const { count } = await loadCounter('o200k_base')
    const chat = makeChat({ half: 'known', number: 0, seed: 2, tokens: 12_000 }, count)
    const report = await walkChat({ chat, strategy, windowTokens: 8192, count })
    expect(report).toMatchObject({ failed: 0, refused: 0 })
    expect(report.requests).toBe(chat.messages.filter(({ role }) => role === 'user').length)
    expect(report.view.length).toBeLessThan(chat.messages.length)
  },
)
