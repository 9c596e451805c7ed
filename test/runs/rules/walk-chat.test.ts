import { expect, test } from 'vitest'
import { loadCounter } from '../../../src/tokens/encodings.ts'
import { makeChat } from './chat.ts'
import { strategies, walkChat } from './walk-chat.ts'

const TOKENS = 6000

test('every rule stands in the view of a window that the whole chat fits', async () => {
  const { count } = await loadCounter('o200k_base')
  for (const number of [0, 1, 2]) {
    const chat = makeChat({ half: 'known', number, seed: 2, tokens: TOKENS }, count)
    const report = await walkChat({ chat, strategy: 'truncate', windowTokens: 64_000, count })
    expect(report).toMatchObject({ failed: 0, refused: 0 })
    expect(report.rules.map(({ asked, held }) => [asked, held])).toEqual(chat.rules.map(() => [5, 5]))
    expect(report.view.map(({ content }) => content)).toEqual(chat.messages.map(({ content }) => content))
  }
})

test.each(strategies)(
  'with %s, a chat beyond the window is compacted, and nothing is refused',
  async (strategy) => {
    const { count } = await loadCounter('o200k_base')
    const chat = makeChat({ half: 'known', number: 0, seed: 2, tokens: 2 * TOKENS }, count)
    const report = await walkChat({ chat, strategy, windowTokens: 8192, count })
    expect(report).toMatchObject({ failed: 0, refused: 0 })
    expect(report.requests).toBe(chat.messages.filter(({ role }) => role === 'user').length)
    expect(report.view.length).toBeLessThan(chat.messages.length)
  },
)
