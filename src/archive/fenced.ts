/** A text as a Markdown code fence, word for word: the fence is longer than any run of its own character within. */
export function fenced(text: string): string {
  const [backticks, tildes] = [longestRun(text, /`{3,}/g), longestRun(text, /~{3,}/g)]
  const fence = backticks <= tildes ? fenceOf('`', backticks) : fenceOf('~', tildes)
  return `${fence}\n${text}\n${fence}\n`
}

// --- internal ---

/** What Markdown takes for a fence at all. */
const FENCE_CHARS_MIN = 3

function fenceOf(character: string, longest: number): string {
  return character.repeat(Math.max(FENCE_CHARS_MIN, longest + 1))
}

/** Characters of the longest match; 0 where there is none. */
function longestRun(text: string, run: RegExp): number {
  let longest = 0
  for (const [found] of text.matchAll(run)) longest = Math.max(longest, found.length)
  return longest
}
