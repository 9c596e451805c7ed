import { expect, test } from 'vitest'
import { columnsOf } from '../../../../src/compaction/passes/terminal/columns.ts'

test.each([
  ['a letter', 'a', '', 1],
  ['an accented letter', 'é', '', 1],
  ['a block of a bar', '█', '', 1],
  ['CJK', '名', '', 2],
  ['a fullwidth letter', 'Ａ', '', 2],
  ['an emoji', '🚀', '', 2],
  ['a combining mark', '\u0301', 'e', 0],
  ['a joiner', '\u200d', '👨', 0],
  ['what is joined', '👩', '\u200d', 0],
  ['a skin tone on a hand', '🏽', '👍', 0],
  ['a skin tone alone', '🏽', 'a', 2],
  ['a variation selector', '\ufe0f', '✔', 0],
  ['a vowel of a Hangul syllable', '\u1161', '\u1100', 0],
  ['what could not be decoded', '\ufffd', '', 1],
  ['half of a character', '\ud83d', '', 1],
])('%s', (_, character, before, columns) => {
  expect(columnsOf(character, before)).toBe(columns)
  // And again, from what was remembered.
  expect(columnsOf(character, before)).toBe(columns)
})
