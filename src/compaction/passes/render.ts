/**
 * The render pass: terminal output reduced to what a terminal would show in the end. This is its simple
 * form: escape sequences go, carriage returns and backspaces overwrite, and runs of equal lines become
 * one line with a count.
 */
export function renderTerminal(text: string): string {
  const plain = hasControls.test(text) ? text.split('\n').map(shownLine).join('\n') : text
  return collapseRepeats(plain)
}

// --- internal ---

/** Escape, the one-byte CSI, carriage return, backspace: the texts without them have nothing to render. */
const hasControls = new RegExp(String.raw`[\u001b\u009b\r\b]`)

/**
 * Escape sequences of ECMA-48: CSI with its parameters, OSC and the other strings up to their terminator,
 * and two-character escapes. Lengths are bounded, so that a lone introducer cannot swallow a text.
 */
const escapeSequence = new RegExp(
  [
    String.raw`(?:\u001b\[|\u009b)[0-?]{0,64}[ -/]{0,8}[@-~]`,
    String.raw`\u001b[\]PX^_][^\u0007\u001b\n]{0,4096}(?:\u0007|\u001b\\)`,
    String.raw`\u001b[ -/]{0,4}[0-~]`,
  ].join('|'),
  'g',
)

/** Runs shorter than this stay as they are: the note about them would be as long. */
const REPEATS_MIN = 3

/** What is left of a line in the end: what was erased is gone before the rest is read. */
function shownLine(line: string): string {
  const erased = Math.max(...erasing.map((sequence) => endOfLast(line, sequence)))
  return overwritten(line.slice(erased).replace(escapeSequence, ''))
}

/** Erase the line, or go to its beginning and erase from there: how progress bars start over. */
const erasing = ['\u001b[2K', '\r\u001b[K', '\r\u001b[0K'] as const

function endOfLast(line: string, sequence: string): number {
  const at = line.lastIndexOf(sequence)
  return at === -1 ? 0 : at + sequence.length
}

/** What a line shows after its carriage returns and backspaces: later characters overwrite earlier ones. */
function overwritten(line: string): string {
  // A line that ends in CR LF is an ordinary line of a text from another system.
  const body = line.endsWith('\r') ? line.slice(0, -1) : line
  if (!body.includes('\r') && !body.includes('\b')) return body
  let shown: string[] = []
  let column = 0
  for (const segment of body.split('\r')) {
    column = 0
    if (!segment.includes('\b') && segment.length >= shown.length) {
      shown = Array.from(segment)
      column = shown.length
      continue
    }
    for (const character of segment) {
      if (character === '\b') column = Math.max(0, column - 1)
      else shown[column++] = character
    }
  }
  return shown.join('').trimEnd()
}

function collapseRepeats(text: string): string {
  const lines = text.split('\n')
  const kept: string[] = []
  for (let start = 0; start < lines.length;) {
    const line = lines[start] ?? ''
    let end = start + 1
    while (end < lines.length && lines[end] === line) end += 1
    const count = end - start
    if (count >= REPEATS_MIN && line.trim() !== '')
      kept.push(line, `[the line above stood here ${count} times]`)
    else if (count >= REPEATS_MIN) kept.push(line)
    else for (let index = start; index < end; index += 1) kept.push(line)
    start = end
  }
  return kept.length === lines.length ? text : kept.join('\n')
}
