/**
 * A longer text matches nothing: no model is called that, and a client must not be able to make
 * matching expensive. Header values are bounded by the HTTP parser already.
 */
const textCharactersMax = 1024

/**
 * Whether `text` as a whole matches `pattern`: `*` stands for any characters, `?` for one; upper and lower
 * case are the same. Going back is only ever to the last `*`, so that the work is bounded by the product of
 * the two lengths, whatever the pattern.
 */
export function matchesGlob(pattern: string, text: string): boolean {
  if (text.length > textCharactersMax) return false
  const wanted = pattern.toLowerCase()
  const given = text.toLowerCase()
  let at = 0
  let inPattern = 0
  let starInPattern = -1
  let starAt = 0
  while (at < given.length) {
    const symbol = wanted[inPattern]
    if (symbol === '*') {
      starInPattern = inPattern++
      starAt = at
    } else if (symbol !== undefined && (symbol === '?' || symbol === given[at])) {
      inPattern++
      at++
    } else if (starInPattern >= 0) {
      inPattern = starInPattern + 1
      at = ++starAt
    } else return false
  }
  while (wanted[inPattern] === '*') inPattern++
  return inPattern === wanted.length
}

/** How specific a pattern is: the characters that it spells out; a pattern without wildcards before all others. */
export function globWeight(pattern: string): number {
  const literal = pattern.replaceAll(/[*?]/g, '').length
  return literal === pattern.length ? Number.POSITIVE_INFINITY : literal
}

/** The most specific of the patterns that match `text`; null if none does. */
export function mostSpecificGlob(patterns: readonly string[], text: string): string | null {
  let best: string | null = null
  for (const pattern of patterns) {
    if (!matchesGlob(pattern, text)) continue
    if (best === null || globWeight(pattern) > globWeight(best)) best = pattern
  }
  return best
}
