import type { Steps } from '../conversation/source.ts'

/** A line of ours between what is quoted. */
export function ownLine(text: string): string {
  return `[recall: ${text}]`
}

/**
 * Text of a conversation as it may stand in an answer: a line that looks like a label or a line of ours is marked as
 * none. All else stays as it was: what is read back is copied, into edits and commands.
 */
export function* unforgedLines(text: string): Steps<string> {
  const pieces: string[] = []
  for (let start = 0; start < text.length;) {
    const lineEnd = text.indexOf('\n', start + CHARS_PER_STEP)
    const end = lineEnd === -1 ? text.length : lineEnd + 1
    pieces.push(text.slice(start, end).replace(ownLike, '\\'))
    start = end
    if (start < text.length) yield
  }
  return pieces.join('')
}

// --- internal ---

/** What is looked through between two pauses, up to the end of its last line: less than a millisecond. */
const CHARS_PER_STEP = 32_768

const ownLike =
  /^(?=[ \t]*(?:\[recall: |#\d+ \[(?:user|assistant|system|developer|other)\]|#\d+ \[(?:user|to|from) ))/gim
