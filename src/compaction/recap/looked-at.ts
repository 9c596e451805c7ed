/**
 * A text as far as a recap looks at it: of a very long one the beginning and the end. What recorded conversations hold is
 * looked at whole.
 */
export function lookedAt(text: string): string {
  if (text.length <= 2 * END_CHARS) return text
  return `${text.slice(0, END_CHARS)}\n…\n${text.slice(-END_CHARS)}`
}

// --- internal ---

const END_CHARS = 131_072
