/** How many of these ascending indexes are below `index`. */
export function countBelow(ascending: readonly number[], index: number): number {
  let low = 0
  let high = ascending.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((ascending[middle] ?? 0) < index) low = middle + 1
    else high = middle
  }
  return low
}
