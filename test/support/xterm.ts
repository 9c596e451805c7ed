import xterm from '@xterm/headless'
import type { ScreenSize } from '../../src/compaction/passes/terminal/screen-size.ts'

/**
 * What xterm.js shows after it was sent the text, with what has scrolled off: one line a row, without the
 * blanks at their ends and without blank rows at the end.
 */
export async function xtermShows(text: string, { rows, columns }: ScreenSize): Promise<string> {
  const terminal = new xterm.Terminal({
    rows,
    cols: columns,
    scrollback: 100_000,
    convertEol: true,
    allowProposedApi: true,
  })
  await new Promise<void>((resolve) => {
    terminal.write(text, resolve)
  })
  const buffer = terminal.buffer.active
  const lines = Array.from(
    { length: buffer.length },
    (_, row) => buffer.getLine(row)?.translateToString(true) ?? '',
  )
  terminal.dispose()
  return withoutBlankEnds(lines.join('\n'))
}

/** A text in the form in which two screens are compared. */
export function withoutBlankEnds(text: string): string {
  return text
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .trimEnd()
}
