/** A line of ours between what is quoted. */
export function ownLine(text: string): string {
  return `[recall: ${text}]`
}

/**
 * Text of a conversation as it may stand in an answer: a line that looks like a label or a line of ours is marked as
 * none. All else stays as it was: what is read back is copied, into edits and commands.
 */
export function unforgedLines(text: string): string {
  return text.replace(ownLike, '\\')
}

// --- internal ---

const ownLike =
  /^(?=[ \t]*(?:\[recall: |#\d+ \[(?:user|assistant|system|developer|other)\]|#\d+ \[(?:to|from) ))/gim
