/** The runs of six words of a text, each written with single blanks. */
export function runsOf(text: string): ReadonlySet<string> {
  const words = text.split(/\s+/).filter((word) => word !== '')
  const runs = new Set<string>()
  for (let end = RUN_WORDS; end <= words.length; end += 1)
    runs.add(words.slice(end - RUN_WORDS, end).join(' '))
  return runs
}

// --- internal ---

const RUN_WORDS = 6
