import { expect, test } from 'vitest'
import { openPrefixCache, type PromptPart } from './prefix-cache.ts'

const count = (text: string) => text.length
const open = () => openPrefixCache({ minimumTokens: 10, stepTokens: 5, count })

/** A message that costs one token for its frame and one a character. */
const part = (content: string, frame = 'user'): PromptPart => ({
  hash: `${frame}:${content}`,
  tokens: 1 + content.length,
  text: { frame, frameTokens: 1, content },
})
const alphabet = part('abcdefghijklmnopqrs') // 20 tokens
const digits = part('0123456') // 8 tokens

test('serves whole messages from the longest common prefix, in steps above the minimum', () => {
  const cache = open()
  expect(cache.serve('me', [alphabet, digits])).toBe(0)
  // 20 + 8 = 28 tokens in common: 10, and three full steps of 5.
  expect(cache.serve('me', [alphabet, digits, part('new')])).toBe(25)
  // Now 28 + 4 = 32 are: 10 and four steps.
  expect(cache.serve('me', [alphabet, digits, part('new'), part('newer')])).toBe(30)
  // A branch of the first prompt still finds it.
  expect(cache.serve('me', [alphabet, digits, part('other')])).toBe(25)
})

test('serves the common beginning of the first message that differs', () => {
  const cache = open()
  cache.serve('me', [alphabet, digits])
  // 20, one for the frame, and the four characters 0123: 25 tokens.
  expect(cache.serve('me', [alphabet, part('0123xyz')])).toBe(25)
  // Another frame shares nothing: 20 tokens.
  expect(cache.serve('me', [alphabet, part('0123456', 'tool')])).toBe(20)
})

test('serves nothing below the minimum', () => {
  const cache = open()
  cache.serve('me', [digits, alphabet])
  expect(cache.serve('me', [digits])).toBe(0)
})

test('serves nothing after a change at the front', () => {
  const cache = open()
  cache.serve('me', [alphabet, digits])
  expect(cache.serve('me', [part('system of today'), alphabet, digits])).toBe(0)
})

test("serves no one from another owner's prompts", () => {
  const cache = open()
  cache.serve('me', [alphabet, digits])
  expect(cache.serve('you', [alphabet, digits])).toBe(0)
})

test("has OpenAI's numbers by default: from 1,024 tokens in steps of 128", () => {
  const cache = openPrefixCache({ count })
  const long = part('x'.repeat(1200))
  cache.serve('me', [long])
  expect(cache.serve('me', [long, digits])).toBe(1024 + 128)
})
