import { remembering } from '../../lru-cache.ts'

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
