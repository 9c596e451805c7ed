import { remembering } from '../caches.ts'

/** What the sizes from `start` up to `end` come to. */
export function sumOf(sizes: readonly number[], start: number, end: number): number {
  const sums = sumsOf(sizes)
  return (sums[end] ?? 0) - (sums[start] ?? 0)
}

/** The sum of some sizes. */
export function sum(sizes: Iterable<number>): number {
  let total = 0
  for (const size of sizes) total += size
  return total
}

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

// --- internal ---

/** At each index, what the sizes before it come to. */
const sumsOf = remembering(
  (sizes: readonly number[]) => sizes,
  (sizes) => {
    const sums = new Float64Array(sizes.length + 1)
    let before = 0
    for (let index = 0; index < sizes.length; index += 1) {
      before += sizes[index] ?? 0
      sums[index + 1] = before
    }
    return sums
  },
)
