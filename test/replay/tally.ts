/** The sums of a table's row. */
export type Tally = {
  requests: number
  rewritten: number
  tokensIn: number
  tokensSent: number
  tokensCached: number
  strides: number
  recovered: number
  restored: number
  failedOpen: number
  /** Refusals by the upstream of a sequence that was sent last. */
  rejected: number
  /** Answers that reached the client without being a reply. */
  errors: number
  /** Requests whose fixed parts alone exceed the budget. */
  fixedTooLarge: number
  failures: number
}

export function openTally(): Tally {
  return {
    requests: 0,
    rewritten: 0,
    tokensIn: 0,
    tokensSent: 0,
    tokensCached: 0,
    strides: 0,
    recovered: 0,
    restored: 0,
    failedOpen: 0,
    rejected: 0,
    errors: 0,
    fixedTooLarge: 0,
    failures: 0,
  }
}

export function addTally(sum: Tally, other: Tally): void {
  for (const key of Object.keys(sum) as (keyof Tally)[]) sum[key] += other[key]
}
