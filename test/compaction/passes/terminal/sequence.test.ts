import { expect, test } from 'vitest'
import { sequenceReader, type Sequence } from '../../../../src/compaction/passes/terminal/sequence.ts'

const esc = '\u001b'

function sequence(text: string, at = 0): Sequence {
  return sequenceReader(text)(at)
}

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
