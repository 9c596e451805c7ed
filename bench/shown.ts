/** A figure with three significant digits, and no more digits before the point than it has. */
export function shown(value: number): string {
  if (!Number.isFinite(value)) return '–'
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.max(Math.abs(value), 0.01))))
  return value.toFixed(digits)
}

/** The least and the most, as `spreadOf` finds them. */
export function shownSpread([least, most]: readonly [number, number]): string {
  return `${shown(least)} to ${shown(most)}`
}
