import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isObject, textsOf as textsIn } from '../support/strict-upstream/wire-message.ts'
import { parseMessage } from '../support/chat-completions.ts'
import { runAtOnce } from '../../src/json/source.ts'
import { loadCounter } from '../../src/tokens/encodings.ts'
import { answerRecall, type RecallSource } from '../../src/recall/answer-recall.ts'
import { leftOutOf } from '../../src/recall/segments.ts'
import { conversation } from '../support/arbitrary-conversation.ts'
import { brokenConversation } from '../support/conversations.ts'
import { countThirds, subjectFrom, viewTexts } from '../support/subject.ts'
import { anyArguments, ask, askAll, held } from './asking.ts'
import { forAll } from '../support/property-runs.ts'

const counter = await loadCounter('o200k_base')

const anyConversation = fc.oneof(
  { weight: 3, arbitrary: conversation },
  { weight: 1, arbitrary: brokenConversation() },
)

/** Conversations under a budget that leaves much of them out, or nothing. */
const anyHeld = fc
  .tuple(anyConversation, fc.integer({ min: 100, max: 8000 }), fc.boolean(), fc.boolean())
  .map(([messages, budgetTokens, strict, clears]) =>
    held(messages, budgetTokens, {
      strict,
      profile: { clear: { enabled: clears }, preview: { threshold_tokens: 300, max_chars: 400 } },
    }),
  )

const anyWords = fc.oneof(
  fc.constantFrom('the build', 'retry', 'a', 'maxRetries was undefined', '4821', 'src/a.ts', '😀', '"'),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }),
)
const anyCall: fc.Arbitrary<object> = fc.oneof(
  fc.constant({}),
  fc.tuple(fc.nat(30), fc.nat(30)).map(([from, to]) => ({ messages: `#${from}-#${to}` })),
  fc.array(fc.nat(40), { maxLength: 30 }).map((messages) => ({ messages })),
  anyWords.map((search) => ({ search })),
  fc.tuple(anyWords, fc.nat(20)).map(([search, from]) => ({ search, messages: `${from}-99` })),
)

describe('the pages of an answer', () => {
  test('joined are the answer, whatever their sizes', () => {
    const sizes = fc.array(fc.integer({ min: 150, max: 2000 }), { minLength: 1, maxLength: 4 })
    forAll(50, anyHeld, anyCall, sizes, (asked, call, pageSizes) => {
      expect(askAll(asked, call, pageSizes).text).toBe(askAll(asked, call).text)
    })
  })

  test('never take more than they may', () => {
    const offset = fc.oneof(fc.constant(0), fc.nat(4000))
    forAll(60, anyHeld, anyCall, fc.nat(600), offset, (asked, call, tokensMax, at) => {
      const page = ask(asked, { ...call, offset: at }, tokensMax)
      expect(countThirds(page)).toBeLessThanOrEqual(tokensMax)
    })
  })

  test('never take more in an encoding, where a text is not the sum of its parts', () => {
    forAll(30, anyConversation, anyCall, fc.nat(600), (messages, call, tokensMax) => {
      const history = subjectFrom(JSON.stringify(messages), counter)
      const page = runAtOnce(answerRecall(held(history, 3000), JSON.stringify(call), tokensMax))
      expect(counter.count(page)).toBeLessThanOrEqual(tokensMax)
    })
  })

  test('split no character', () => {
    const faces = held([{ role: 'user', content: '😀'.repeat(3000) }], 100_000)
    for (let tokensMax = 60; tokensMax < 90; tokensMax += 1) {
      const { text, pages } = askAll(faces, { messages: '#1' }, [tokensMax])
      expect(pages.every((page) => page.isWellFormed())).toBe(true)
      expect(text).toContain('😀'.repeat(3000))
    }
    expect(ask(faces, { messages: '#1', offset: 40 }, 200).isWellFormed()).toBe(true)
    expect(ask(faces, { messages: '#1', offset: 41 }, 200).isWellFormed()).toBe(true)
  })
})

describe('what was left out', () => {
  test('can be read word for word, message by message', () => {
    forAll(40, anyHeld, (asked) => {
      const { systemCount } = asked.history.structure
      for (const index of asked.history.messages.keys()) {
        if (index < systemCount) continue
        const text = unmarked(askAll(asked, { messages: index - systemCount + 1 }).text)
        for (const said of textsOf(asked, index)) expect(text).toContain(`\n${said}\n`)
      }
    })
  })

  test('is all that does not stand in the view word for word', () => {
    forAll(50, anyHeld, (asked) => {
      const { history, compacted } = asked
      const texts = compacted === null ? '' : viewTexts(history, compacted.view).join('\n')
      const out = new Set(leftOutOf(history, compacted).map(({ index }) => index))
      for (const [index, message] of history.messages.entries()) {
        const own = history.source.text(message.start, message.end)
        const isThere = texts.includes(own) || partsOf(own).every((part) => texts.includes(inner(part)))
        if (!out.has(index)) expect(isThere).toBe(true)
      }
      const listed = [...askAll(asked, {}).text.matchAll(/^#(\d+) /gm)].map(([, number]) => Number(number))
      const { systemCount } = history.structure
      expect(listed.toReversed()).toEqual([...out].map((index) => index - systemCount + 1))
    })
  })

  test('is found by each of its words', () => {
    forAll(60, anyHeld, fc.nat(), fc.nat(), (asked, place, position) => {
      const out = leftOutOf(asked.history, asked.compacted)
      const index = out[place % Math.max(1, out.length)]?.index ?? -1
      const words = textsOf(asked, index)
        .flatMap((text) => text.split(/\s+/))
        .filter((word) => word !== '' && word.length <= 200 && !/^"[^"]+"$/.test(word))
      const word = words[position % Math.max(1, words.length)]
      fc.pre(word !== undefined)
      const { text } = askAll(asked, { search: word })
      expect(text).toMatch(/^\[recall: these hold it/)
      expect(text.toLowerCase()).toContain(word.toLowerCase())
      const number = `#${index - asked.history.structure.systemCount + 1}`
      const named = new RegExp(String.raw`^${number} \[|also in .*${number}\b|and \d+ more|\d more\n`, 'm')
      expect(text).toMatch(named)
    })
  })

  test('is never in the way of an answer, whatever the arguments', () => {
    forAll(75, anyHeld, anyArguments, fc.nat(300), (asked, text, tokensMax) => {
      expect(countThirds(ask(asked, text, tokensMax))).toBeLessThanOrEqual(tokensMax)
    })
  })
})

/** What a message says and hands to tools. */
function textsOf({ history }: RecallSource, index: number): string[] {
  const message = history.messages[index]
  if (message === undefined) return []
  const { text, calls } = parseMessage(history.source, message)
  return [...(text === '' ? [] : [text]), ...calls.map(({ argumentsText }) => argumentsText)]
}

/** The texts of a message's content, each as it stands in another one that it was joined to. */
function partsOf(json: string): readonly string[] {
  const message: unknown = JSON.parse(json)
  return isObject(message) ? textsIn(message['content']) : []
}

/** Without what marks lines that look like the tool's own. */
const unmarked = (text: string): string => text.replaceAll(/^\\(?=[ \t]*(?:\[recall: |#\d+ \[))/gim, '')

/** A text as it stands within a JSON string. */
const inner = (text: string): string => JSON.stringify(text).slice(1, -1)
