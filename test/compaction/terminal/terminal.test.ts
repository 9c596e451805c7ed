import { expect, test } from 'vitest'
import { screenSizeOf } from '../../../src/compaction/terminal/terminal.ts'
import { renderTerminal } from '../../support/at-once.ts'

const esc = '\u001b'

test.each([
  ['a screen is 24 by 80 where nothing says otherwise', 'text\u001b[1;31m', 24, 80],
  ['it holds the rows and columns that are addressed', '\u001b[34;103Hx\u001b[40d', 40, 103],
  ['the distance that the cursor goes up', '\u001b[41A', 42, 80],
  ['the distance that it goes to the right', '\u001b[120C', 24, 121],
  ['questions for the size are none about it', '\u001b[999;999H\u001b[999C\u001b[5000;1H', 24, 80],
])('a screen: %s', (_, text, rows, columns) => {
  expect(screenSizeOf(text)).toEqual({ rows, columns })
})

test.each([
  ['a private marker', `${esc}[?25;7h`],
  ['intermediates', `${esc}[2 q`],
  ['a hundred parameters', `${esc}[${'7;'.repeat(100)}m`],
  ['an escape', `${esc}(B`],
  ['an operating system command, by BEL', `${esc}]0;title\u0007`],
  ['or by ST', `${esc}]8;;https://ci.example/${esc}\\`],
  ['a device control string over several lines, with a bell in it', `${esc}Ptmux;a\nb\u0007c${esc}\\`],
  ['an application program command', `${esc}_Ga=T;AAAA${esc}\\`],
  ['a private message', `${esc}^x${esc}\\`],
  ['a string', `${esc}Xx${esc}\\`],
  ['a title of screen and tmux', `${esc}kvim${esc}\\`],
  ['what CAN breaks off', `${esc}]0;tit\u0018`],
  ['a control sequence that was cut off', `${esc}[38;5\u0000`],
])('shows nothing up to its end: %s', (_, sequence) => {
  expect(renderTerminal(`a${sequence}b`)).toBe('ab')
})

test.each([
  ['a command without an end', `${esc}]0;title`, '0;title'],
  ['a command that goes over a line', `${esc}]0;title\nmore\u0007`, '0;title\nmore'],
  ['a command with another sequence in it', `${esc}]0;title${esc}[0m\u0007`, '0;title'],
  ['a device control string without an end', `${esc}Pq\nmore`, 'q\nmore'],
  ['a lone escape', `${esc}\nmore`, '\nmore'],
  ['a string that ends behind one that does not', `${esc}]0;one\n${esc}]0;two\u0007more`, '0;one\nmore'],
])('loses its introducer, not the text behind it: %s', (_, text, shown) => {
  expect(renderTerminal(text)).toBe(shown)
})

// Full-screen programs scroll parts of a screen; what they drew is gone when they leave it.
test.each(['[3S', '[3T', '[2L', '[2M', '[4h', 'M', 'c', '[!p'])(
  'what is not drawn is left out, and no text with it: ESC %s',
  (sequence) => {
    expect(renderTerminal(`one\n${esc}${sequence}two\nthree`)).toBe('one\ntwo\nthree')
  },
)
