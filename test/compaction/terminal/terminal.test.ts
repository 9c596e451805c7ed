import { expect, test } from 'vitest'
import { columnsOf } from '../../../src/compaction/terminal/line.ts'
import {
  isWithinMojibake,
  mojibakeLength,
  type Sequence,
  sequenceReader,
} from '../../../src/compaction/terminal/sequence.ts'
import { screenSizeOf } from '../../../src/compaction/terminal/screen-size.ts'

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
])('columns: %s', (_, character, before, columns) => {
  expect(columnsOf(character, before)).toBe(columns)
  // And again, from what was remembered.
  expect(columnsOf(character, before)).toBe(columns)
})

const asLatin1 = (text: string): string => String.fromCharCode(...new TextEncoder().encode(text))

test('UTF-8 that was read as Latin-1 is known by its lead and the number of what follows', () => {
  expect(['é', '”', '🚀'].map((character) => mojibakeLength(asLatin1(character), 0))).toEqual([2, 3, 4])
  expect(mojibakeLength('é\u009b0m', 0)).toBe(0)
  expect(mojibakeLength('a', 0)).toBe(0)
})

test('its parts are known from behind', () => {
  const text = `a${asLatin1('”')}b`
  expect(Array.from(text, (_, index) => isWithinMojibake(text, index))).toEqual([
    false,
    false,
    true,
    true,
    false,
  ])
  expect(isWithinMojibake('é\u009b0m', 1)).toBe(false)
})

test.each([
  ['a screen is 24 by 80 where nothing says otherwise', 'text\u001b[1;31m', 24, 80],
  ['it holds the rows and columns that are addressed', '\u001b[34;103Hx\u001b[40d', 40, 103],
  ['the distance that the cursor goes up', '\u001b[41A', 42, 80],
  ['the distance that it goes to the right', '\u001b[120C', 24, 121],
  ['the margins', '\u001b[1;50r', 50, 80],
  ['in either spelling', '\u009b30;90f', 30, 90],
  ['questions for the size are none about it', '\u001b[999;999H\u001b[999C\u001b[5000;1H', 24, 80],
])('a screen: %s', (_, text, rows, columns) => {
  expect(screenSizeOf(text)).toEqual({ rows, columns })
})

const esc = '\u001b'

const sequence = (text: string, at = 0): Sequence => sequenceReader(text)(at)

test('a control sequence has its private marker and intermediates in its name', () => {
  expect(sequence(`${esc}[?25;1049h.`)).toEqual({ name: '[?h', parameters: [25, 1049], end: 11 })
  expect(sequence('\u009b2 q.')).toEqual({ name: '[ q', parameters: [2], end: 4 })
  expect(sequence(`${esc}[;5H`)).toEqual({ name: '[H', parameters: [0, 5], end: 5 })
})

test('counts without end are large, and of thousands of parameters the first are read', () => {
  expect(sequence(`${esc}[${'9'.repeat(400)}B`)).toMatchObject({ parameters: [999_999_999], end: 403 })
  expect(sequence(`${esc}[${'7;'.repeat(5_000)}H`)).toMatchObject({
    parameters: Array(32).fill(7),
    end: 10_003,
  })
})

test('escapes are named by all that follows them', () => {
  expect(sequence(`${esc}M`)).toEqual({ name: 'M', parameters: [], end: 2 })
  expect(sequence(`${esc}(0x`)).toEqual({ name: '(0', parameters: [], end: 3 })
  expect(sequence('\u0085')).toEqual({ name: 'E', parameters: [], end: 1 })
})

test.each([
  ['an operating system command, by BEL', `${esc}]0;title\u0007.`],
  ['or by ST', `${esc}]8;;https://ci.example/${esc}\\.`],
  ['or by ST in one character', '\u009d0;title\u009c.'],
  ['a device control string over several lines, with a bell in it', `${esc}Ptmux;a\nb\u0007c${esc}\\.`],
  ['an application program command', `${esc}_Ga=T;AAAA${esc}\\.`],
  ['a private message', `${esc}^x${esc}\\.`],
  ['a string', `${esc}Xx${esc}\\.`],
  ['a title of screen and tmux', `${esc}kvim${esc}\\.`],
  ['what CAN breaks off', `${esc}]0;tit\u0018.`],
])('shows nothing up to its end: %s', (_, text) => {
  expect(sequence(text)).toEqual({ name: '', parameters: [], end: text.length - 1 })
})

test.each([
  ['a command without an end', `${esc}]0;title`, 2],
  ['a command that goes over a line', `${esc}]0;title\nmore\u0007`, 2],
  ['a command with another sequence in it', `${esc}]0;title${esc}[0m\u0007`, 2],
  ['a device control string without an end', `${esc}Pq\nmore`, 2],
  ['a lone escape', `${esc}\nmore`, 1],
  ['a control sequence that is longer than any', `${esc}[${'0'.repeat(65)}\n`, 2],
])('is an introducer of nothing: %s', (_, text, end) => {
  expect(sequence(text)).toEqual({ name: '', parameters: [], end })
})

test('a control sequence that was cut off goes as far as it came', () => {
  expect(sequence(`${esc}[38;5`)).toEqual({ name: '', parameters: [], end: 6 })
  expect(sequence(`${esc}[38;5\nmore`)).toEqual({ name: '', parameters: [], end: 6 })
})

test('a string that ends is found behind one that does not', () => {
  const text = `${esc}]0;one\n${esc}]0;two\u0007.`
  const sequenceAt = sequenceReader(text)
  expect([sequenceAt(0).end, sequenceAt(8).end]).toEqual([2, text.length - 1])
})
