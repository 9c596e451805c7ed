import { Tiktoken } from 'js-tiktoken/lite'
import cl100k from 'js-tiktoken/ranks/cl100k_base'
import o200k from 'js-tiktoken/ranks/o200k_base'
import { describe, expect, test } from 'vitest'
import { InvariantError } from '../../src/errors.ts'
import { createTokenCounter, vocabularySteps } from '../../src/tokens/bpe-counter.ts'
import { RANKS_STEP_CHARACTERS } from '../../src/tokens/rank-table.ts'

// Repeated, most of them are one single piece of any length.
const runs = [
  'a|A|=|/|0|é|中|あ|A中|aé中|😀|👩‍👧|𝐀'.split('|'),
  [' ', '\t', '\n', ' \n', '\u0301', '\u3000', '\ud83d', '\ude00', '\0'],
].flat()

describe.each([
  { name: 'o200k_base', file: o200k },
  { name: 'cl100k_base', file: cl100k },
])('$name', ({ file }) => {
  const counter = createTokenCounter(file)
  const encoder = new Tiktoken(file)

  test('an empty text has no tokens', () => {
    expect(counter.count('')).toBe(0)
  })

  // js-tiktoken's own encoder is quadratic in such a run: 25 kB would stop the process.
  test.each(runs)('a run of %j is counted in proportion to its length', (character) => {
    const expected = encoder.encode(character.repeat(384), [], []).length
    expect(counter.count(character.repeat(384))).toBe(expected)
    expect(counter.count(character.repeat(384 * 64))).toBe(expected * 64)
  })

  test('names of special tokens are ordinary text', () => {
    for (const special of Object.keys(file.special_tokens)) {
      expect(counter.count(special)).toBe(encoder.encode(special, [], []).length)
      expect(counter.count(special)).toBeGreaterThan(1)
    }
  })

  test('one word after a megabyte of blanks is found', () => {
    const blanks = ' '.repeat(1_000_000)
    expect(counter.count(`${blanks} word`)).toBe(counter.count(blanks) + counter.count(' word'))
  })

  test.each([
    { kind: 'words', text: 'some words and more '.repeat(20_000) },
    { kind: 'one piece of one letter', text: 'a'.repeat(400_000) },
    {
      kind: 'one piece of many letters',
      text: Array.from({ length: 400_000 }, (_, at) => 'etaoinshrdlu'[(at * at) % 12]).join(''),
    },
    { kind: 'blanks', text: ' '.repeat(400_000) },
  ])('counting pauses at least every 32 kB in $kind', ({ text }) => {
    const steps = counter.countSteps(text)
    let pauses = 0
    let step = steps.next()
    for (; step.done !== true; step = steps.next()) pauses += 1
    expect(step.value).toBe(counter.count(text))
    expect(pauses).toBeGreaterThanOrEqual(Math.floor(text.length / 32_768))
  })
})

// Its table was made in one go at the first request that was counted: 100 ms in which no other was answered.
test('a rank file is read in steps, each of a small part of it', () => {
  const pauses = [...vocabularySteps(o200k)].length
  expect(pauses).toBeGreaterThanOrEqual(Math.floor(o200k.bpe_ranks.length / RANKS_STEP_CHARACTERS))
})

test('a rank file with a pattern that is not known is refused instead of counted wrongly', () => {
  expect(() => createTokenCounter({ ...o200k, pat_str: String.raw`\S+|\s+` })).toThrow(InvariantError)
})
