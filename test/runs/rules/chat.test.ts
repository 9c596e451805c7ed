import { beforeAll, describe, expect, test } from 'vitest'
import { loadCounter } from '../../../src/tokens/encodings.ts'
import { makeChat, type Chat } from './chat.ts'
import { timesSaid } from './judge-view.ts'
import { forms, halves } from './phrasing.ts'

const TOKENS = 9000
const CHATS = 60

let count: (text: string) => number
let chats: readonly Chat[]

beforeAll(async () => {
  ;({ count } = await loadCounter('o200k_base'))
  chats = halves.flatMap((half) =>
    Array.from({ length: CHATS }, (_, number) => makeChat({ half, number, seed: 3, tokens: TOKENS }, count)),
  )
})

const textsOf = ({ messages }: Chat) => messages.map(({ content }) => content)
const tokensOf = (texts: readonly string[]) => texts.reduce((sum, text) => sum + count(text), 0)
const wordsOf = (text: string) => text.split(/\s+/).length

test('a chat is what its seed says', () => {
  const order = { half: 'known', number: 5, seed: 8, tokens: TOKENS } as const
  expect(makeChat(order, count)).toEqual(makeChat(order, count))
  for (const other of [{ seed: 9 }, { number: 6 }, { half: 'apart' as const }])
    expect(textsOf(makeChat({ ...order, ...other }, count))).not.toEqual(textsOf(makeChat(order, count)))
})

test('a chat is as long as it was asked to be, but for a turn', () => {
  for (const chat of chats) {
    const tokens = tokensOf(textsOf(chat)) + 4 * chat.messages.length
    expect(tokens).toBeGreaterThan(0.98 * TOKENS)
    expect(tokens).toBeLessThan(TOKENS + 3000)
  }
})

test('user and assistant take turns, and the user has the last word', () => {
  for (const { messages } of chats) {
    const spoken = messages.filter(({ role }) => role !== 'system')
    expect(spoken.length % 2).toBe(1)
    expect(spoken.every(({ role }, place) => role === (place % 2 === 0 ? 'user' : 'assistant'))).toBe(true)
    expect(messages.length - spoken.length).toBeLessThanOrEqual(1)
    expect(messages.every(({ content }) => content.trim() !== '')).toBe(true)
  }
})

test('a third of the tokens is what users say, in short turns and in long ones', () => {
  const said = chats.flatMap(({ messages }) => messages.filter(({ role }) => role === 'user'))
  const userTokens = tokensOf(said.map(({ content }) => content))
  const share = userTokens / tokensOf(chats.flatMap(textsOf))
  expect(share).toBeGreaterThan(0.28)
  expect(share).toBeLessThan(0.4)
  const words = said.map(({ content }) => wordsOf(content))
  expect(words.filter((each) => each <= 15).length).toBeGreaterThan(0.2 * words.length)
  expect(words.filter((each) => each >= 100).length).toBeGreaterThan(0.1 * words.length)
})

test('nothing repeats sentence by sentence', () => {
  const sentences = chats.flatMap((chat) => {
    const own = textsOf(chat).flatMap((text) => text.split(/(?<=[.?!:])\s+|\n/))
    const long = own.filter((sentence) => wordsOf(sentence) >= 6)
    return [{ all: long.length, different: new Set(long).size }]
  })
  const sum = (figure: 'all' | 'different') => sentences.reduce((whole, each) => whole + each[figure], 0)
  expect(sum('different')).toBeGreaterThan(0.95 * sum('all'))
})

describe('rules', () => {
  test('one to four in a chat, of all forms', () => {
    for (const { rules } of chats) {
      expect(rules.length).toBeGreaterThanOrEqual(1)
      expect(rules.length).toBeLessThanOrEqual(4)
    }
    const met = new Set(chats.flatMap(({ rules }) => rules.map(({ form }) => form)))
    expect(met).toEqual(new Set(forms))
  })

  test('each stands once in its chat, in a message of the user, before the long rest', () => {
    for (const chat of chats) {
      for (const { says } of chat.rules) {
        expect([says, timesSaid(textsOf(chat), says)]).toEqual([says, 1])
        const at = chat.messages.findIndex(({ content }) => content.includes(says))
        expect(chat.messages[at]?.role).toBe('user')
        expect(tokensOf(textsOf(chat).slice(0, at))).toBeLessThan(0.5 * TOKENS)
      }
    }
  })

  test('what a correction corrects stands once, some turns before it', () => {
    const corrections = chats.flatMap(({ messages, rules }) =>
      rules.flatMap(({ says, old }) => (old === null ? [] : [{ messages, says, old }])),
    )
    expect(corrections.length).toBeGreaterThan(3)
    for (const { messages, says, old } of corrections) {
      const [before, after] = [old, says].map((words) =>
        messages.findIndex(({ content }) => content.includes(words)),
      )
      expect(
        timesSaid(
          messages.map(({ content }) => content),
          old,
        ),
      ).toBe(1)
      expect(messages[before ?? 0]?.role).toBe('user')
      expect(after).toBeGreaterThan((before ?? 0) + 1)
    }
  })

  test("what an answer refers to stands once, in the assistant's words before it", () => {
    for (const { messages, rules } of chats) {
      for (const { says, refersTo } of rules) {
        if (refersTo === null) continue
        const asked = messages.filter(({ content }) => timesSaid([content], refersTo) > 0)
        expect(asked.map(({ role }) => role)).toEqual(['assistant'])
        const placeOf = (words: string) =>
          messages.findIndex(({ content }) => timesSaid([content], words) > 0)
        expect(placeOf(refersTo)).toBeLessThan(placeOf(says))
      }
    }
  })

  test('no placeholder is left in any text', () => {
    const left = chats.flatMap(textsOf).filter((text) => /\{(?:option|thing|part|act|few|many)\}/.test(text))
    expect(left).toEqual([])
  })
})
