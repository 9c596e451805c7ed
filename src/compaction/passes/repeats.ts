/** Runs shorter than this stay as they are: two equal lines are no noise. */
const REPEATS_MIN = 3

/**
 * Runs of equal lines become one line with a count, where that is shorter; runs of blank lines become one. A
 * line that is such a note itself is never counted, or a text would change each time that it is rendered.
 */
export function collapseRepeats(text: string): string {
  const lines = text.split('\n')
  const kept: string[] = []
  for (let start = 0; start < lines.length;) {
    const line = lines[start] ?? ''
    let end = start + 1
    while (end < lines.length && lines[end] === line) end += 1
    const count = end - start
    const note = `[the line above stood here ${count} times]`
    if (count < REPEATS_MIN || isNote.test(line)) pushAll(kept, line, count)
    else if (line.trim() === '') kept.push(line)
    else if ((count - 1) * (line.length + 1) > note.length) kept.push(line, note)
    else pushAll(kept, line, count)
    start = end
  }
  return kept.length === lines.length ? text : kept.join('\n')
}

// --- internal ---

const isNote = /^\[the line above stood here \d+ times\]$/

function pushAll(lines: string[], line: string, count: number): void {
  for (let index = 0; index < count; index += 1) lines.push(line)
}
