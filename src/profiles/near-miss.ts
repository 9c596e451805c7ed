/** Longer words are not compared: no key or name of ours is near them, and the work stays bounded. */
const wordCharactersMax = 64

/**
 * The candidate that `word` was most likely meant to be, or null if none is near: at most one slip in three letters, or
 * else one that has it as whole words (`api_key` for `api_key_env`). `maxTokens` and `max-tokens` are `max_tokens` to it.
 * Of equally near ones the first wins.
 */
export function nearest(word: string, candidates: Iterable<string>): string | null {
  if (word.length > wordCharactersMax) return null
  const all = [...candidates]
  const plain = plainSpelling(word)
  const slips = all.map((candidate) => editDistance(plain, plainSpelling(candidate)))
  const fewest = Math.min(...slips)
  if (fewest <= Math.max(1, Math.floor(plain.length / 3))) return all[slips.indexOf(fewest)] ?? null
  return all.find((candidate) => `_${candidate}_`.includes(`_${word.toLowerCase()}_`)) ?? null
}

/** Asks whether the nearest candidate was meant; `otherwise` if none is near. */
export function meantOr(word: string, candidates: Iterable<string>, otherwise: string): string {
  const near = nearest(word, candidates)
  return near === null ? otherwise : `did you mean "${near}"?`
}

// --- internal ---

/** Without what spellings of one name differ in. */
function plainSpelling(word: string): string {
  return word.toLowerCase().replaceAll(/[-_ ]/g, '')
}

/** Insertions, deletions, replacements and swaps of neighbours that turn one word into the other. */
function editDistance(from: string, to: string): number {
  const rows = [Array.from({ length: to.length + 1 }, (_, column) => column)]
  const cell = (row: number, column: number): number => rows[row]?.[column] ?? Number.POSITIVE_INFINITY
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row]
    rows.push(current)
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1]
      const isSwap = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      const replaced = cell(row - 1, column - 1) + (isSame ? 0 : 1)
      const swapped = isSwap ? cell(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY
      current.push(Math.min(cell(row - 1, column) + 1, cell(row, column - 1) + 1, replaced, swapped))
    }
  }
  return cell(from.length, to.length)
}
