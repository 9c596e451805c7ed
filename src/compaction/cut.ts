/** The beginning of a text: at most so many characters and lines, ended at a line's end where one is near. */
export function cutHead(text: string, charsMax: number, linesMax: number): string {
  if (linesMax <= 0) return ''
  let end = Math.min(text.length, Math.max(0, charsMax))
  const lineEnd = endOfLines(text, end, linesMax)
  if (lineEnd !== -1) end = lineEnd
  else if (end < text.length) {
    const lastBreak = text.lastIndexOf('\n', end - 1)
    if (lastBreak >= end - lineEndCharsMax(end)) end = lastBreak
  }
  return text.slice(0, whole(text, end))
}

/** The end of a text: at most so many characters and lines, begun at a line's beginning where one is near. */
export function cutTail(text: string, charsMax: number, linesMax: number): string {
  if (linesMax <= 0) return ''
  const length = Math.min(text.length, Math.max(0, charsMax))
  let start = text.length - length
  const lineStart = startOfLines(text, start, linesMax)
  if (lineStart !== -1) start = lineStart + 1
  else if (start > 0) {
    const firstBreak = text.indexOf('\n', start)
    if (firstBreak !== -1 && firstBreak - start < lineEndCharsMax(length)) start = firstBreak + 1
  }
  // Off a pair's middle towards the end, so that the bound holds.
  return text.slice(whole(text, start) === start ? start : start + 1)
}

// --- internal ---

/** A cut moves to a line's end when that costs at most this share of what is kept, and no more than a long line. */
const LINE_END_SHARE = 0.2
const LINE_END_CHARS_MAX = 160

/** Where so many lines end; -1 where they do not before `end`. */
function endOfLines(text: string, end: number, lines: number): number {
  // A text may be a million lines: where all of them may stay, none is looked for.
  if (lines === Infinity) return -1
  let lineEnd = -1
  for (let line = 0; line < lines; line += 1) {
    lineEnd = text.indexOf('\n', lineEnd + 1)
    if (lineEnd === -1 || lineEnd >= end) return -1
  }
  return lineEnd
}

/** The break before the last so many lines; -1 where it does not stand behind `start`. */
function startOfLines(text: string, start: number, lines: number): number {
  if (lines === Infinity) return -1
  let lineStart = text.length
  for (let line = 0; line < lines; line += 1) {
    lineStart = lineStart === 0 ? -1 : text.lastIndexOf('\n', lineStart - 1)
    if (lineStart === -1 || lineStart < start) return -1
  }
  return lineStart
}

function lineEndCharsMax(keptChars: number): number {
  return Math.min(keptChars * LINE_END_SHARE, LINE_END_CHARS_MAX)
}

/** Moves a cut off the middle of a surrogate pair. */
function whole(text: string, index: number): number {
  const unit = text.charCodeAt(index)
  return index > 0 && unit >= 0xdc00 && unit <= 0xdfff ? index - 1 : index
}
