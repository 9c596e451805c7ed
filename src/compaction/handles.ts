/**
 * The name of a message by which marks, recaps and summaries refer to it, and by which it is read back. Counted from
 * the end of the leading system block, as strides are, so that it stays the message's own as long as the conversation
 * goes on.
 */
export function handleOf(index: number, systemCount: number): string {
  return `#${index - systemCount + 1}`
}

/** The messages from `start` up to `end`, by their names. */
export function handleRange(start: number, end: number, systemCount: number): string {
  const first = handleOf(start, systemCount)
  return end - start <= 1 ? first : `${first} to ${handleOf(end - 1, systemCount)}`
}
