/** The figures of a table's row. */
const figures = [
  'requests',
  'rewritten',
  'tokensIn',
  'tokensSent',
  'tokensCached',
  'compactions',
  'recovered',
  'restored',
  'failedOpen',
  // Upstream requests beyond the first.
  'sentAgain',
  // Refusals of a sequence; where the placement is to be found out, only of the one that was sent last.
  'rejected',
  // Answers that reached the client without being a reply.
  'errors',
  // Requests whose fixed parts alone exceed the budget.
  'fixedTooLarge',
  // Of conversations whose reasoning the upstream binds to what it was made on; see `responses/reasoning-losses.ts`.
  'reasoningLost',
  'reasoningLostAtOnce',
  'reasoningLostTwice',
  // Replies of which only a part was sent.
  'groupsBroken',
  'failures',
] as const

/** The sums of a table's row. */
export type Tally = Record<(typeof figures)[number], number>

export function openTally(): Tally {
  return {
    requests: 0,
    rewritten: 0,
    tokensIn: 0,
    tokensSent: 0,
    tokensCached: 0,
    compactions: 0,
    recovered: 0,
    restored: 0,
    failedOpen: 0,
    sentAgain: 0,
    rejected: 0,
    errors: 0,
    fixedTooLarge: 0,
    reasoningLost: 0,
    reasoningLostAtOnce: 0,
    reasoningLostTwice: 0,
    groupsBroken: 0,
    failures: 0,
  }
}

export function addTally(sum: Tally, other: Tally): void {
  for (const figure of figures) sum[figure] += other[figure]
}
