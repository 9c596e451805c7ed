import fc from 'fast-check'
import xterm from '@xterm/headless'
import { anyCharacter } from './any-character.ts'
import type { ScreenSize } from '../../src/compaction/terminal/terminal.ts'

const esc = '\u001b'
const escaped = (text: string): string => `${esc}${text}`

/** One of each, joined. */
const joined = (...parts: fc.Arbitrary<string>[]): fc.Arbitrary<string> =>
  fc.tuple(...parts).map((drawn) => drawn.join(''))

const oneOf = (characters: string): fc.Arbitrary<string> => fc.constantFrom(...characters.split(''))

const count = fc.oneof(fc.constant(''), fc.integer({ min: 0, max: 12 }).map(String))
const position = fc.tuple(count, count).map(([row, column]) => `${row};${column}`)
const csi = fc.constant(`${esc}[`)

const movement = fc.oneof(
  joined(csi, count, oneOf('ABCDEFG`d')),
  joined(csi, position, oneOf('Hf')),
  fc.constantFrom('\r', '\b', '\r\n', '\n', '\n', '\v', '\f', '\t', ...['7', '8', '[s', '[u'].map(escaped)),
)

const change = fc.oneof(
  joined(csi, fc.constantFrom('', '0', '1', '2'), oneOf('JK')),
  joined(csi, count, oneOf('X@P')),
)

const silent = fc.constantFrom(
  ...['[1;31m', '[38;2;1;2;3m', '[0m', '[?25l', '[6n', '[>4m', '[2 q', ']0;a title\u0007'].map(escaped),
  ...[']8;;https://ci.example/7', 'Pq#0;2;0;0;0', '_G a=T', '^private'].map(
    (text) => `${esc}${text}${esc}\\`,
  ),
  '\u0007',
  '\u0000',
)

const word = fc.stringMatching(/^[ -~]{1,12}$/)
const wide = fc.constantFrom('名前', '進捗: ', '한글', 'ＦＵＬＬ', 'e\u0301te\u0301')
/** A program that draws on the alternate screen and leaves it. */
const fullScreen = fc
  .array(fc.oneof(word, movement), { maxLength: 10 })
  .map((pieces) => `${esc}[?1049h${esc}[H${pieces.join('')}${esc}[?1049l`)

const emoji = fc.constantFrom('🚀', '👨‍👩‍👧', '👍🏽', '✔️', '🇵🇱')

/** Terminal output in which every sequence is whole, and something was saved. */
export const arbitraryDrawing: fc.Arbitrary<string> = fc
  .array(
    fc.oneof({ weight: 5, arbitrary: word }, { weight: 4, arbitrary: movement }, change, silent, fullScreen),
    { maxLength: 60 },
  )
  .map((pieces) => `${esc}7${pieces.join('')}`)

/** Movement only, with characters that take two columns, or none. xterm.js has emoji in one column: none here. */
export const arbitraryWideDrawing: fc.Arbitrary<string> = fc
  .array(fc.oneof(word, wide, movement, silent), { maxLength: 40 })
  .map((pieces) => `${esc}7${pieces.join('')}`)

const pieces = [esc, `${esc}[`, `${esc}]`, '\u009d', '\u0090', '\ud83d', '\ude80', '\ufffd', 'â\u0080\u009d']

/** Anything: whole sequences, their pieces, halves of characters, counts of any size. */
export const arbitraryTerminalText: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      word,
      wide,
      emoji,
      movement,
      change,
      silent,
      fc.string({ unit: anyCharacter, maxLength: 8 }),
      fc.constantFrom(...pieces),
      joined(fc.constant(`${esc}[`), fc.nat().map(String), oneOf('ABCDGHXLMPSTdbr@')),
      fc.constantFrom('same\n', 'same\n', '\n\n\n', '[the line above stood here 3 times]\n'),
    ),
    { maxLength: 40 },
  )
  .map((drawn) => drawn.join(''))

/**
 * What xterm.js shows after it was sent the text, with what has scrolled off: one line a row, without the
 * blanks at their ends and without blank rows at the end.
 */
export async function xtermShows(text: string, { rows, columns }: ScreenSize): Promise<string> {
  const options = { scrollback: 100_000, convertEol: true, allowProposedApi: true }
  const terminal = new xterm.Terminal({ rows, cols: columns, ...options })
  await new Promise<void>((resolve) => {
    terminal.write(text, resolve)
  })
  const buffer = terminal.buffer.active
  const lineAt = (row: number) => buffer.getLine(row)?.translateToString(true) ?? ''
  const lines = Array.from({ length: buffer.length }, (_, row) => lineAt(row))
  terminal.dispose()
  return withoutBlankEnds(lines.join('\n'))
}

/** A text in the form in which two screens are compared. */
export const withoutBlankEnds = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .trimEnd()
