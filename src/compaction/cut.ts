/** The beginning of a text: at most so many characters and lines, ended at a line's end where one is near. */
export function cutHead(text: string, charsMax: number, linesMax: number): string {
  if (linesMax <= 0) return ''
  let end = Math.min(text.length, Math.max(0, charsMax))
  let lineEnd = -1
  for (let line = 0; line < linesMax; line += 1) {
    const next = text.indexOf('\n', lineEnd + 1)
    if (next === -1 || next >= end) {
      lineEnd = -1
      break
    }
    lineEnd = next
  }
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
  let lineStart = text.length
  for (let line = 0; line < linesMax; line += 1) {
    const previous = lineStart === 0 ? -1 : text.lastIndexOf('\n', lineStart - 1)
    if (previous === -1 || previous < start) {
      lineStart = -1
      break
    }
    lineStart = previous
  }
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

function lineEndCharsMax(keptChars: number): number {
  return Math.min(keptChars * LINE_END_SHARE, LINE_END_CHARS_MAX)
}

/** Moves a cut off the middle of a surrogate pair. */
function whole(text: string, index: number): number {
  const unit = text.charCodeAt(index)
  return index > 0 && unit >= 0xdc00 && unit <= 0xdfff ? index - 1 : index
}
