/** The least of the samples that so large a share of them does not exceed; null where there are none. */
export function quantile(samples: readonly number[], share: number): number | null {
  const ascending = samples.toSorted((one, other) => one - other)
  return ascending[Math.max(1, Math.ceil(share * ascending.length)) - 1] ?? null
}
