/**
 * The largest level at which the sizes, each cut down to the level, add up to at most `allowed`; `floor`
 * where even that is too much. So the largest are cut first and small ones stay whole.
 */
export function waterLevel(sizes: readonly number[], allowed: number, floor: number): number {
  // Sorted as numbers are, which for a hundred thousand of them takes a fraction of what comparing takes.
  const ascending = Float64Array.from(sizes).sort()
  let left = allowed
  for (const [index, size] of ascending.entries()) {
    const share = Math.floor(left / (ascending.length - index))
    if (size > share) return Math.max(floor, share)
    left -= size
  }
  return Math.max(floor, ascending.at(-1) ?? floor)
}
