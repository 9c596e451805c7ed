import { collapseRepeats } from './repeats.ts'
import { drawTerminal } from './terminal/draw.ts'
import { screenSizeOf } from './terminal/screen-size.ts'

/**
 * The render pass: terminal output reduced to what a terminal would show in the end, with all that scrolled
 * off its screen. Runs of equal lines become one line with a count. Never longer than the text: one that would
 * be, because it is mostly movement, stays as it is.
 */
export function renderTerminal(text: string): string {
  // Lines that end in CR LF are the ordinary lines of a text from another system: nothing is drawn over.
  const unix = text.includes('\r\n') ? text.replaceAll('\r\n', '\n') : text
  const lines = endsLinesWithReturns(unix) ? unix.replaceAll('\r', '\n') : unix
  if (!hasControls.test(lines)) return collapseRepeats(lines)
  const drawn = drawTerminal(lines, screenSizeOf(lines))
  return drawn === null || drawn.length > text.length ? text : collapseRepeats(drawn)
}

// --- internal ---

/**
 * Whether carriage returns end the lines of a file, as on an old Mac or in some exported tables, and draw nothing
 * over: where there is no other line end and no other control, and most pieces say other words. The states of a
 * progress bar say the same words with other numbers.
 */
function endsLinesWithReturns(text: string): boolean {
  if (!text.includes('\r') || otherControls.test(text)) return false
  const pieces = text.split('\r').filter((piece) => piece !== '')
  const words = new Set(pieces.map((piece) => piece.replace(/[^\p{L}]+/gu, ' ').trim()))
  return pieces.length >= RETURNED_LINES_MIN && words.size > pieces.length / 2
}

/** Fewer pieces are a message that another one replaced. */
const RETURNED_LINES_MIN = 3

const otherControls = new RegExp(
  String.raw`[\n\u0007\b\u001b\u0084\u0085\u008d\u0090\u0098\u009b\u009d-\u009f]`,
)

/**
 * What makes a text terminal output: the bell, backspace, carriage return, escape, and the C1 controls that
 * move the cursor or open a sequence. Tabs and form feeds stand in source code, too.
 */
const hasControls = new RegExp(
  String.raw`[\u0007\b\r\u001b\u0084\u0085\u008d\u0090\u0098\u009b\u009d-\u009f]`,
)
