import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { renderTerminal } from '../support/at-once.ts'
import { drawTerminal } from '../../src/compaction/terminal/render-terminal.ts'
import { runAtOnce } from '../../src/json/source.ts'
import { type ScreenSize, screenSizeOf } from '../../src/compaction/terminal/terminal.ts'
import {
  arbitraryDrawing,
  arbitraryTerminalText,
  arbitraryWideDrawing,
  withoutBlankEnds,
  xtermShows,
} from '../support/terminals.ts'
import { anyCharacter } from '../support/any-character.ts'
import { forAll, forAllAsync } from '../support/property-runs.ts'

/** Wide enough that xterm.js wraps nothing, low enough that texts scroll. */
const screen = { rows: 12, columns: 1_000 }

/** Null where it would be longer than the text: nobody shows that. */
function weShow(text: string, size: ScreenSize): string | null {
  const drawn = runAtOnce(drawTerminal(text, size))
  return drawn === null ? null : withoutBlankEnds(withoutTabs(drawn))
}

/** A tab stays a tab in what we show, and is blanks in a terminal. CJK takes two columns. */
const withoutTabs = (text: string): string =>
  text.replaceAll(/[^\n]*\t[^\n]*/g, (line) => {
    let shown = ''
    let columns = 0
    for (const character of line) {
      const taken =
        character === '\t' ? 8 - (columns % 8) : /\p{M}/u.test(character) ? 0 : isWide(character) ? 2 : 1
      shown += character === '\t' ? ' '.repeat(taken) : character
      columns += taken
    }
    return shown
  })

const isWide = (character: string): boolean => /[\p{sc=Han}\p{sc=Hangul}\uff21-\uff3a]/u.test(character)

test.each([
  ['plain characters', arbitraryDrawing, 400],
  ['characters of two columns and none', arbitraryWideDrawing, 250],
] as const)('what is left of %s is what xterm.js shows', async (_, drawing, numRuns) => {
  await forAllAsync(numRuns, drawing, async (text) => {
    const shown = weShow(text, screen)
    fc.pre(shown !== null)
    expect(shown).toBe(await xtermShows(text, screen))
  })
})

test('what was rendered is rendered: again it changes nothing, and it is never longer', () => {
  forAll(2_000, arbitraryTerminalText, (text) => {
    const shown = renderTerminal(text)
    expect(renderTerminal(shown)).toBe(shown)
    expect(shown.length).toBeLessThanOrEqual(text.length)
  })
})

test('a text in which nothing is drawn and nothing repeats stays as it is', () => {
  const line = fc.string({ unit: anyCharacter }).map((text) => text.replaceAll(/[\p{Cc}]/gu, '\t'))
  forAll(100, fc.uniqueArray(line), (lines) => {
    const text = lines.join('\n')
    expect(renderTerminal(text)).toBe(text)
    // Colours around it change that as little, whatever else its characters are.
    expect(renderTerminal(`\u001b[1m${text}\u001b[0m`)).toBe(text)
  })
})

/** Recorded streams stay outside of the repository: this one is asciinema's (avt), a shell at work. */
const recordings = process.env['FOLDGATE_TRANSCRIPTS']
test.skipIf(recordings === undefined)(
  'a recorded shell shows what xterm.js shows (FOLDGATE_TRANSCRIPTS: the folder of terminal-avt-mixed.ansi)',
  async () => {
    const text = await readFile(join(recordings ?? '', 'terminal-avt-mixed.ansi'), 'utf8')
    const { rows } = screenSizeOf(text)
    const size = { rows, columns: screen.columns }
    expect(weShow(text, size)).toBe(await xtermShows(text, size))
    const shown = renderTerminal(text)
    expect(shown.length).toBeLessThan(text.length / 20)
    expect(renderTerminal(shown)).toBe(shown)
  },
)
