import { describe, expect, test } from 'vitest'
import { loadCounter } from '../../../src/tokens/encodings.ts'
import { makeChat, type Chat } from './chat.ts'
import { timesSaid } from './walk-chat.ts'
import { deal, forms, halves, phrasingsOf, scenariosOf } from './phrasing.ts'

const TOKENS = 9000
const CHATS = 60
const { count } = await loadCounter('o200k_base')
const chats = halves.flatMap((half) =>
  Array.from({ length: CHATS }, (_, number) => makeChat({ half, number, seed: 3, tokens: TOKENS }, count)),
)

const textsOf = ({ messages }: Chat) => messages.map(({ content }) => content)
const tokensOf = (texts: readonly string[]) => texts.reduce((sum, text) => sum + count(text), 0)
const wordsOf = (text: string) => text.split(/\s+/).length

test('a chat is what its seed says', () => {
  const order = { half: 'known', number: 5, seed: 8, tokens: TOKENS } as const
  expect(makeChat(order, count)).toEqual(makeChat(order, count))
  for (const other of [{ seed: 9 }, { number: 6 }, { half: 'apart' as const }])
    expect(textsOf(makeChat({ ...order, ...other }, count))).not.toEqual(textsOf(makeChat(order, count)))
})

test('a chat is as long as it was asked to be, but for a turn; they take turns, and the user has the last word', () => {
  for (const chat of chats) {
    const tokens = tokensOf(textsOf(chat)) + 4 * chat.messages.length
    expect(Math.abs(tokens - TOKENS - 1400)).toBeLessThan(1600)
    const spoken = chat.messages.filter(({ role }) => role !== 'system')
    expect(spoken.length % 2).toBe(1)
    expect(spoken.every(({ role }, place) => role === (place % 2 === 0 ? 'user' : 'assistant'))).toBe(true)
    expect(chat.messages.length - spoken.length).toBeLessThanOrEqual(1)
    expect(chat.messages.every(({ content }) => content.trim() !== '' && !content.includes('{option}'))).toBe(
      true,
    )
  }
})

test('a third of the tokens is what users say, in short turns and in long ones, and nothing repeats', () => {
  const said = chats.flatMap(({ messages }) => messages.filter(({ role }) => role === 'user'))
  const share = tokensOf(said.map(({ content }) => content)) / tokensOf(chats.flatMap(textsOf))
  expect(Math.abs(share - 0.34)).toBeLessThan(0.06)
  const words = said.map(({ content }) => wordsOf(content))
  expect(words.filter((each) => each <= 15).length).toBeGreaterThan(0.2 * words.length)
  expect(words.filter((each) => each >= 100).length).toBeGreaterThan(0.1 * words.length)
  const sentences = chats.map((chat) =>
    textsOf(chat)
      .flatMap((text) => text.split(/(?<=[.?!:])\s+|\n/))
      .filter((sentence) => wordsOf(sentence) >= 6),
  )
  const different = sentences.flatMap((own) => [...new Set(own)]).length
  expect(different).toBeGreaterThan(0.95 * sentences.flat().length)
})

describe('rules', () => {
  test('one to four in a chat, of all forms, each once, in a message of the user before the long rest', () => {
    for (const chat of chats) {
      expect([1, 2, 3, 4]).toContain(chat.rules.length)
      for (const { says } of chat.rules) {
        expect([says, timesSaid(textsOf(chat), says)]).toEqual([says, 1])
        const at = chat.messages.findIndex(({ content }) => content.includes(says))
        expect(chat.messages[at]?.role).toBe('user')
        expect(tokensOf(textsOf(chat).slice(0, at))).toBeLessThan(0.5 * TOKENS)
      }
    }
    const met = new Set(chats.flatMap(({ rules }) => rules.map(({ form }) => form)))
    expect(met).toEqual(new Set(forms))
  })

  test('until late, where that is asked for', () => {
    const late = Array.from({ length: 20 }, (_, number) =>
      makeChat({ half: 'known', number, seed: 1, tokens: TOKENS, ruledUntil: 0.7 }, count),
    )
    const places = late.flatMap((chat) =>
      chat.rules.map(({ says }) => {
        const at = chat.messages.findIndex(({ content }) => content.includes(says))
        return tokensOf(textsOf(chat).slice(0, at)) / TOKENS
      }),
    )
    expect(Math.max(...places)).toBeGreaterThan(0.5)
    expect(Math.max(...places)).toBeLessThan(0.9)
  })

  test('what a correction corrects, and what an answer refers to, stands once, in another turn before it', () => {
    let corrections = 0
    for (const chat of chats) {
      const placesOf = (words: string) =>
        chat.messages.flatMap(({ content }, place) => (timesSaid([content], words) > 0 ? [place] : []))
      for (const { says, old, refersTo } of chat.rules) {
        const [said = 0] = placesOf(says)
        const [before, ...others] = placesOf(old ?? refersTo ?? says)
        expect(others).toEqual([])
        if (old !== null) expect(chat.messages[before ?? 0]?.role).toBe('user')
        if (refersTo !== null) expect(chat.messages[before ?? 0]?.role).toBe('assistant')
        if (old !== null || refersTo !== null) expect(before).toBeLessThan(old === null ? said : said - 1)
        if (old !== null) corrections += 1
      }
    }
    expect(corrections).toBeGreaterThan(3)
  })
})

test('nothing is dealt twice until the others have been, and no chat gets the same twice', () => {
  const list = Array.from({ length: 50 }, (_, place) => place)
  const hands = Array.from({ length: 60 }, (_, chat) => deal(list, 'a', chat))
  expect(new Set(hands.slice(0, 12).flat()).size).toBe(hands.slice(0, 12).flat().length)
  expect(new Set(hands.flat()).size).toBeGreaterThanOrEqual(list.length - 3)
  for (const hand of hands) expect(new Set(hand).size).toBe(hand.length)
})

/** By the words alone, without case and the marks at their ends. */
function isEitherIn(one: string, other: string): boolean {
  const [first, second] = [one, other].map((text) => text.toLowerCase().replaceAll(/^\p{P}+|\p{P}+$/gu, ''))
  return first !== undefined && second !== undefined && (first.includes(second) || second.includes(first))
}

describe.each(halves)('the half %s', (half) => {
  const list = phrasingsOf(half)

  test('has phrasings by the hundred, of every form and in twenty languages', () => {
    expect(list.length).toBeGreaterThanOrEqual(150)
    expect(new Set(list.map(({ form }) => form))).toEqual(new Set(forms))
    expect(new Set(list.map(({ language }) => language)).size).toBe(20)
  })

  test('says each rule in one sentence, none of which stands in another one, or in what it corrects', () => {
    expect(list.filter(({ says }) => /[.!?]\s|[。！？।]./.test(says))).toEqual([])
    const inside = list.filter(
      (one) =>
        list.some((other) => other !== one && isEitherIn(one.says, other.says)) ||
        ('old' in one && isEitherIn(one.old, one.says)),
    )
    expect(inside).toEqual([])
  })
})

test('the halves share no phrasing, and no option', () => {
  const [one = [], other = []] = halves.map((half) => [
    ...phrasingsOf(half).flatMap((phrasing) => [
      phrasing.says,
      ...('old' in phrasing ? [phrasing.old] : 'assistant' in phrasing ? [phrasing.assistant] : []),
    ]),
    // Names of options are single words, which anything may hold.
    ...scenariosOf(half).flatMap(({ options }) => options.map(({ text }) => text)),
  ])
  expect(one.filter((text) => other.some((each) => isEitherIn(text, each)))).toEqual([])
})
