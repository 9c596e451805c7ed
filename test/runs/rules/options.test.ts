import { expect, test } from 'vitest'
import { ordersOf, readOptions } from './options.ts'

test('both windows, strategies and halves, unless something else is asked for', () => {
  const usual = readOptions([])
  if (typeof usual === 'string') throw new Error(usual)
  expect(usual).toMatchObject({
    sizes: [
      { windowTokens: 8192, chatTokens: 24_000 },
      { windowTokens: 32_000, chatTokens: 90_000 },
    ],
    strategies: ['truncate', 'summarize'],
    halves: ['known', 'apart'],
    json: false,
    shown: 0,
  })
  const chats = usual.sizes.reduce((sum, size) => sum + size.chats, 0)
  expect(ordersOf(usual)).toHaveLength(4 * chats)
})

test('one window with chats of another length, and fewer of them', () => {
  const args = ['--window', '8192', '--chat-tokens', '30000', '--chats', '2', '--strategy', 'truncate']
  const asked = readOptions([...args, '--half', 'known', '--seed', '7'])
  if (typeof asked === 'string') throw new Error(asked)
  expect(ordersOf(asked)).toEqual(
    [0, 1].map((number) => ({
      chat: { half: 'known', number, seed: 7, tokens: 30_000 },
      strategy: 'truncate',
      windowTokens: 8192,
    })),
  )
  expect(readOptions(['--window', '16000'])).toMatchObject({
    sizes: [{ windowTokens: 16_000, chatTokens: 48_000 }],
  })
})

test('what leaves nothing to measure is refused, with the reason', () => {
  expect(readOptions(['--window', '8k'])).toMatch(/^--window takes a whole number/)
  expect(readOptions(['--window', '2000'])).toMatch(/^--window takes 4096/)
  expect(readOptions(['--chat-tokens', '9000'])).toMatch(/^--chat-tokens is the length/)
  expect(readOptions(['--strategy', 'fold'])).toMatch(/^--strategy takes truncate or summarize/)
  expect(readOptions(['--half', 'third'])).toMatch(/^--half takes known, apart or both/)
  expect(readOptions(['--chats', '0'])).toMatch(/^--chats takes/)
  expect(readOptions(['--chat', '1'])).toMatch(/--chat/)
})
