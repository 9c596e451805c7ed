/** The value in the middle; between the two in the middle where there are two. NaN where there are none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  const half = sorted.length / 2
  const above = sorted[Math.floor(half)] ?? Number.NaN
  return Number.isInteger(half) ? (above + (sorted[half - 1] ?? Number.NaN)) / 2 : above
}

/** The least of the values that `share` of all of them do not exceed (0.99: the 99th percentile). NaN where there are none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN
}

/** The least and the most. */
export function spreadOf(values: readonly number[]): readonly [number, number] {
  return [Math.min(...values), Math.max(...values)]
}

/** How much y grows with x, by least squares. NaN below two different x. */
export function slopeOf(points: readonly { readonly x: number; readonly y: number }[]): number {
  const meanX = points.reduce((sum, { x }) => sum + x, 0) / points.length
  const meanY = points.reduce((sum, { y }) => sum + y, 0) / points.length
  const covariance = points.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0)
  return covariance / points.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0)
}
