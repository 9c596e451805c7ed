import type { Steps } from '../conversation/source.ts'

/** Runs shorter than this stay as they are: two equal lines are no noise. */
const REPEATS_MIN = 3

/**
 * Runs of equal lines become one line with a count, where that is shorter; runs of blank lines become one. A
 * line that is such a note itself is never counted, or a text would change each time that it is rendered.
 */
export function* collapseRepeats(text: string): Steps<string> {
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

// --- internal ---

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
