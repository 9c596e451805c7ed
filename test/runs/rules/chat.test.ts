import { describe, expect, test } from 'vitest'
import { loadCounter } from '../../../src/tokens/encodings.ts'
import { makeChat, type Chat } from './chat.ts'
import { timesSaid } from './walk-chat.ts'
import { forms, halves, phrasingsOf, scenariosOf } from './phrasing.ts'

const TOKENS = 9000
const CHATS = 60
const { count } = await loadCounter('o200k_base')
const chats = halves.flatMap((half) =>
  Array.from({ length: CHATS }, (_, number) => makeChat({ half, number, seed: 3, tokens: TOKENS }, count)),
)

const textsOf = ({ messages }: Chat) => messages.map(({ content }) => content)
const tokensOf = (texts: readonly string[]) => texts.reduce((sum, text) => sum + count(text), 0)

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
