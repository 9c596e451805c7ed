import type { Pausable } from '../../json/source.ts'
import { type ScreenSize, screenSizeOf, Terminal } from './terminal.ts'

/**
 * The render pass: terminal output reduced to what a terminal would show in the end, with all that scrolled
 * off its screen. Runs of equal lines become one line with a count. Never longer than the text: one that would
 * be, because it is mostly movement, stays as it is.
 */
export function* renderTerminal(text: string): Pausable<string> {
  // Lines that end in CR LF are the ordinary lines of a text from another system: nothing is drawn over.
  const unix = text.includes('\r\n') ? text.replaceAll('\r\n', '\n') : text
  const lines = endsLinesWithReturns(unix) ? unix.replaceAll('\r', '\n') : unix
  yield
  if (!hasControls.test(lines)) return yield* collapseRepeats(lines)
  if (movesLines.test(lines)) return text
  const size = screenSizeOf(lines)
  const drawn: string[] = []
  let isState = false
  for (const piece of piecesOf(lines)) {
    const shown = yield* drawTerminal(piece, size)
    if (shown === null) return text
    // What follows would have been drawn over it.
    if (drawn.length > 0 && isState) drawn.push('\n')
    drawn.push(shown)
    isState = piece.endsWith('\r')
  }
  const shown = drawn.join('')
  return shown.length > text.length ? text : yield* collapseRepeats(shown)
}

/** Runs shorter than this stay as they are: two equal lines are no noise. */
const REPEATS_MIN = 3

/**
 * @internal exported for tests. Runs of equal lines become one line with a count, where that is shorter; runs of blank lines
 * become one. A line that is such a note itself is never counted, or a text would change each time that it is rendered.
 */
export function* collapseRepeats(text: string): Pausable<string> {
  const kept: string[] = []
  let keptUntil = 0
  let lines = 0
  for (let start = 0; start <= text.length;) {
    const found = text.indexOf('\n', start)
    const lineEnd = found === -1 ? text.length : found
    const line = text.slice(start, lineEnd)
    let count = 1
    let end = lineEnd
    for (; isLineAt(text, end + 1, line); end += 1 + line.length) {
      count += 1
      if (count % LINES_PER_STEP === 0) yield
    }
    const note = noteInPlaceOf(line, count)
    if (note !== null) {
      kept.push(text.slice(keptUntil, lineEnd), note)
      keptUntil = end
    }
    start = end + 1
    lines += 1
    if (lines % LINES_PER_STEP === 0) yield
  }
  return kept.length === 0 ? text : kept.join('') + text.slice(keptUntil)
}

/**
 * @internal exported for tests. What stands on a terminal of this size after it was sent the text, with all that scrolled off.
 * Null where that is longer than the text: counts have filled it, and there is no end to what they could fill.
 */
export function* drawTerminal(text: string, size: ScreenSize): Pausable<string | null> {
  const terminal = new Terminal(size)
  let sequences = 0
  let pausedAt = 0
  for (let at = 0; at < text.length;) {
    control.lastIndex = at
    const next = control.exec(text)?.index ?? text.length
    if (next > at) terminal.print(text.slice(at, next))
    sequence.lastIndex = next
    const [whole = '', marker = '', given = '', final, escaped] = sequence.exec(text) ?? []
    if (final !== undefined)
      terminal.perform(`[${marker}${final}`, given.split(/[;:]/, PARAMETERS_MAX).map(Number))
    else if (whole !== '') terminal.perform(escaped ?? whole, [])
    at = next + whole.length
    if (terminal.settledLength > text.length) return null
    sequences += 1
    if (sequences % SEQUENCES_PER_STEP > 0 && at - pausedAt < CHARS_PER_STEP) continue
    pausedAt = at
    yield
  }
  return terminal.toString()
}

// --- internal ---

/**
 * What is drawn on one screen. More than that is a log, which scrolls: each piece of it is drawn by itself, so that no
 * line has to be kept in cells which is longer.
 */
const DRAWN_CHARS_MAX = 262_144

/** The pieces that are drawn one after the other: nearly always all of it. */
function* piecesOf(text: string): Generator<string, void, void> {
  let start = 0
  while (text.length - start > DRAWN_CHARS_MAX) {
    const end = start + cutIn(text.slice(start, start + DRAWN_CHARS_MAX))
    yield text.slice(start, end)
    start = end
  }
  yield text.slice(start)
}

/** Where a piece ends at best: behind a line, else behind a state that is drawn over, else before a sequence. */
function cutIn(window: string): number {
  const lineEnd = window.lastIndexOf('\n') + 1 || window.lastIndexOf('\r') + 1
  return lineEnd || Math.max(0, window.lastIndexOf('\u001b')) || window.length
}

/**
 * Whether carriage returns end the lines of a file, as on an old Mac or in some exported tables, and draw nothing
 * over: where there is no other line end and no other control, and most pieces say other words. The states of a
 * progress bar say the same words with other numbers.
 */
function endsLinesWithReturns(text: string): boolean {
  if (!text.includes('\r') || otherControls.test(text)) return false
  const pieces = text.slice(0, RETURNS_CHARS_MAX).split('\r')
  const said = pieces.filter((piece) => piece !== '').map((piece) => piece.replace(/[^\p{L}]+/gu, ' ').trim())
  return said.length >= RETURNED_LINES_MIN && new Set(said).size > said.length / 2
}

/** The beginning of a text tells: it is looked at within two milliseconds. */
const RETURNS_CHARS_MAX = 16_384

/** Fewer pieces are a message that another one replaced. */
const RETURNED_LINES_MIN = 3

const otherControls = new RegExp(String.raw`[\n\u0007\b\u001b]`)

/**
 * What makes a text terminal output: the bell, backspace, carriage return and escape. Tabs and form feeds stand in source
 * code, too. The C1 controls (U+0080 to U+009F) are none here: nobody sends them in UTF-8, and misread letters are full of them.
 */
const hasControls = new RegExp(String.raw`[\u0007\b\r\u001b]`)

/** Lines between two pauses: less than a millisecond. */
const LINES_PER_STEP = 4_096

const isNote = /^\[the line above stood here \d+ times\]$/

/** Whether a line of this text begins at `start`, behind the end of another. */
function isLineAt(text: string, start: number, line: string): boolean {
  const end = start + line.length
  return text.startsWith(line, start) && start <= text.length && (end === text.length || text[end] === '\n')
}

/** What takes the place of all but the first of so many equal lines; null where they stay. */
function noteInPlaceOf(line: string, count: number): string | null {
  if (count < REPEATS_MIN || isNote.test(line)) return null
  if (line.trim() === '') return ''
  const note = `\n[the line above stood here ${count} times]`
  return (count - 1) * (line.length + 1) > note.length - 1 ? note : null
}

/** Sequences between two pauses, each of which may move a whole screen: a few milliseconds at the very most … */
const SEQUENCES_PER_STEP = 256
/** … and text: about a millisecond. */
const CHARS_PER_STEP = 16_384

/** C0 but for the tab, and DEL. */
const control = new RegExp(String.raw`[\u0000-\u0008\u000a-\u001f\u007f]`, 'g')

/**
 * What stands at a control character: ECMA-48, section 5. Either a control sequence with its private marker, parameters and
 * final; or a string (a title, the address of a link, a picture), which shows nothing, up to its end in the same line, or for
 * device control strings in any; or an escape by what follows it, or the character itself. Of what was cut off it is what there
 * is. Each alternative ends before the next escape, so that no text is searched twice.
 */
const sequence = new RegExp(
  [
    String.raw`\u001b\[([<-?]?)([0-;]{0,256})([ -/]{0,4}[@-~])`,
    String.raw`\u001b\[[0-?]{0,64}[ -/]{0,4}`,
    String.raw`\u001b(?:[\]_^Xk][^\n\u0007\u0018\u001a\u001b]*(?:[\u0007\u0018\u001a]|\u001b\\)|P[^\u0018\u001a\u001b]*(?:[\u0018\u001a]|\u001b\\))`,
    String.raw`\u001b([ -/]{0,4}[0-~])`,
    String.raw`[^]`,
  ].join('|'),
  'y',
)

/** As many as xterm.js reads. */
const PARAMETERS_MAX = 32
/**
 * What a terminal does and this one does not: scrolling a part of its screen (apt's bar), repeating a character, going down
 * without a return, drawing boxes by letters. Drawn without it a text would be another: it stays as it is.
 */
// oxlint-disable-next-line no-control-regex
const movesLines = /\u001b(?:\[\d{0,4}(?:;\d{0,4})?[rb]|[DE]|[()]0)/
