/** Longer words are not compared: no key or name of ours is near them, and the work stays bounded. */
const wordCharactersMax = 64

/**
 * The candidate that `word` was most likely meant to be, or null if none is near: at most one slip in
 * three letters, or else one that has it as a whole word (`recent` for `recent_messages`). `maxTokens` and
 * `max-tokens` are `max_tokens` to it. Of equally near ones the first wins.
 */
export function nearest(word: string, candidates: Iterable<string>): string | null {
  if (word.length > wordCharactersMax) return null
  const all = [...candidates]
  const plain = plainSpelling(word)
  let best: string | null = null
  let bestDistance = Math.max(1, Math.floor(plain.length / 3)) + 1
  for (const candidate of all) {
    const distance = editDistance(plain, plainSpelling(candidate))
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best ?? all.find((candidate) => candidate.split('_').includes(word.toLowerCase())) ?? null
}

/** Asks whether the nearest candidate was meant; `otherwise` if none is near. */
export function meantOr(word: string, candidates: Iterable<string>, otherwise: string): string {
  const near = nearest(word, candidates)
  return near === null ? otherwise : `did you mean "${near}"?`
}

/**
 * Insertions, deletions, replacements and swaps of neighbours that turn one word into the other.
 *
 * @internal exported for tests
 */
export function editDistance(from: string, to: string): number {
  let beforePrevious: readonly number[] = []
  let previous: readonly number[] = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1]
      let distance = Math.min(
        cell(previous, column) + 1,
        cell(current, column - 1) + 1,
        cell(previous, column - 1) + (same ? 0 : 1),
      )
      const swapped =
        row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      if (swapped) distance = Math.min(distance, cell(beforePrevious, column - 2) + 1)
      current.push(distance)
    }
    beforePrevious = previous
    previous = current
  }
  return cell(previous, to.length)
}

/** Without what spellings of one name differ in. */
export function plainSpelling(word: string): string {
  return word.toLowerCase().replaceAll(/[-_ ]/g, '')
}

// --- internal ---

function cell(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY
}
