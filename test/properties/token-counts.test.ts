import * as fc from 'fast-check'
import { Tiktoken } from 'js-tiktoken/lite'
import cl100k from 'js-tiktoken/ranks/cl100k_base'
import o200k from 'js-tiktoken/ranks/o200k_base'
import { expect, test } from 'vitest'
import { runAtOnce } from '../../src/json/source.ts'
import { counterOver, vocabularySteps } from '../../src/tokens/bpe-counter.ts'
import { anyCharacter } from '../support/any-character.ts'
import { forAll } from '../support/property-runs.ts'

// Runs stay under 60 characters: the encoder that is held against ours is quadratic in them.
const runCharacters = 60

// What the split patterns tell apart, beside what only looks like it.
const ofEveryClass = [
  Array.from('aBßÉǅʰ中あ1²Ⅷ٣/!€=-😀𝐀𝟙𐐨ſ'),
  Array.from(" \t\n\r\v\0'\u0301\u20dd\u00a0\u3000\ufeff\u0085\u200b\u{e0100}"),
  ['👩‍👧', "'s", "'LL"],
].flat()

const phrases = [
  "don't|WE'LL|'RE|it'Sx|'ſ|'l|''d|naïve|HTTPServer|camelCaseName|snake_case_name|1234567|3.14159|0xDEADBEEF".split(
    '|',
  ),
  'Привет, мир|こんにちは世界|안녕하세요|مرحبا بالعالم|नमस्ते दुनिया|ไทยภาษา|https://example.org/a/b?c=d#e'.split(
    '|',
  ),
  [
    '<|endoftext|>',
    '<|endofprompt|>',
    '<|fim_prefix|>',
    '<|im_start|>',
    '{"a":[1,2.5e-3,null],"b":"\\u00e9\\n"}',
  ],
  ['function f(x) {\n    return x + 1\n}\n', '| --- | :-: |\r\n', '  - item\n\n\n'],
].flat()

const fragment = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 20 }),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.string({ maxLength: 40 }),
  // Lone surrogates, and pairs in the wrong order.
  fc
    .array(fc.integer({ min: 0xd700, max: 0xe100 }), { maxLength: 6 })
    .map((units) => String.fromCharCode(...units)),
  fc.array(fc.constantFrom(...ofEveryClass), { maxLength: 24 }).map((characters) => characters.join('')),
  fc
    .tuple(fc.constantFrom(...ofEveryClass, ' \n', '\r\n', '  \n '), fc.nat(runCharacters))
    .map(([character, length]) => character.repeat(length)),
  fc.constantFrom(...phrases),
  fc.base64String({ maxLength: 60 }),
)
const text = fc.array(fragment, { maxLength: 12 }).map((fragments) => fragments.join(''))

const word = String.raw`(?:[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)`

test.each([
  ['o200k_base', o200k, 'own', o200k.pat_str],
  ['cl100k_base', cl100k, 'own', cl100k.pat_str],
  [
    'o200k_base cut by digits',
    o200k,
    'digits',
    o200k.pat_str.replace(String.raw`\p{N}{1,3}`, String.raw`\p{N}`),
  ],
  [
    'o200k_base cut apart',
    o200k,
    'apart',
    String.raw` ?${word}|\p{N}| ?[^\s\p{L}\p{N}]+|\s*[\r\n]+|\s+(?!\S)|\s+`,
  ],
] as const)(
  '%s: any text is counted as js-tiktoken does where its pattern cuts it',
  (_, file, cut, written) => {
    const counter = counterOver(runAtOnce(vocabularySteps(file)), cut)
    const encoder = new Tiktoken({ ...file, pat_str: written })
    forAll(400, text, (sample) => {
      const count = counter.count(sample)
      expect(count).toBe(encoder.encode(sample, [], []).length)
      expect(runAtOnce(counter.countSteps(sample)), 'however it is paused').toBe(count)
      expect(count).toBeLessThanOrEqual(Buffer.byteLength(sample))
    })
  },
)
