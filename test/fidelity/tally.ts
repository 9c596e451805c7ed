const figures = [
  'requests',
  // Things that the next message names and the history holds, and those of them that the view holds.
  'things',
  'thingsHeld',
  // Of those, the ones that the newest suffix has lost.
  'farThings',
  'farThingsHeld',
  // Six-word runs of the next message that stand in the history, and those of them that stand in the view.
  'runs',
  'runsHeld',
  'promptTokens',
  'cachedTokens',
  // Requests of which the one before is no beginning.
  'strides',
  // What a summary model was asked beside, and the tokens of those prompts.
  'summaryCalls',
  'summaryTokens',
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
  const sum = openTally()
  for (const tally of tallies) for (const figure of figures) sum[figure] += tally[figure] ?? 0
  return sum
}

/** What a row promises the exit code: nothing was refused, failed or arrived broken. */
export function isSound(tally: Tally): boolean {
  return tally.refused + tally.errors + tally.failedOpen + tally.broken === 0
}

// --- internal ---

function openTally(): Tally {
  return {
    requests: 0,
    things: 0,
    thingsHeld: 0,
    farThings: 0,
    farThingsHeld: 0,
    runs: 0,
    runsHeld: 0,
    promptTokens: 0,
    cachedTokens: 0,
    strides: 0,
    summaryCalls: 0,
    summaryTokens: 0,
    beyond: 0,
    refused: 0,
    errors: 0,
    failedOpen: 0,
    broken: 0,
  }
}
