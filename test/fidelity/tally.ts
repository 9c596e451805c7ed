const figures = [
  'requests',
  // Things that the next message names and the history holds, and those of them that the view holds.
  'things',
  'thingsHeld',
  // Those of them that the newest suffix has lost.
  'farThings',
  'farThingsHeld',
  'runs',
  'runsHeld',
  'promptTokens',
  'cachedTokens',
  // Requests of which the one before is no beginning.
  'strides',
  // Requests that leave the reply less than the reserve.
  'beyond',
  // Attempts that the upstream refused.
  'refused',
  // Answers that reached the client without being a reply.
  'errors',
  'failedOpen',
  // Requests that break more message rules than the client's own.
  'broken',
] as const

/** The sums of a row. */
export type Tally = Record<(typeof figures)[number], number>

export function sumOf(tallies: readonly Partial<Tally>[]): Tally {
  const sum = Object.fromEntries(figures.map((figure) => [figure, 0])) as Tally
  for (const tally of tallies) for (const figure of figures) sum[figure] += tally[figure] ?? 0
  return sum
}

/** What a row promises the exit code: nothing was refused, failed or arrived broken. */
export function isSound(tally: Tally): boolean {
  return tally.refused + tally.errors + tally.failedOpen + tally.broken === 0
}
