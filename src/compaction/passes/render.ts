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
  const lines = text.includes('\r\n') ? text.replaceAll('\r\n', '\n') : text
  if (!hasControls.test(lines)) return collapseRepeats(lines)
  const drawn = drawTerminal(lines, screenSizeOf(lines))
  return drawn === null || drawn.length > text.length ? text : collapseRepeats(drawn)
}

// --- internal ---

/**
 * What makes a text terminal output: the bell, backspace, carriage return, escape, and the C1 controls that
 * move the cursor or open a sequence. Tabs and form feeds stand in source code, too.
 */
const hasControls = new RegExp(
  String.raw`[\u0007\b\r\u001b\u0084\u0085\u008d\u0090\u0098\u009b\u009d-\u009f]`,
)
