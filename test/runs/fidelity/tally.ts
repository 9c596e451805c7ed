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
  // Requests whose newest message is not there by its share, whose prompt is the one before, whose task is not there.
  'newestAbsent',
  'samePrompt',
  'taskGone',
  // Of each request's newest assistant messages and newest results; and those of them that can be worked from.
  'actions',
  'actionsHeld',
  'observations',
  'observationsHeld',
  // Requests whose system messages, tools and newest message of the user exceed the budget by themselves. Else they
  // count only for the newest message, the same prompt, and what Foldgate itself did wrong.
  'tooLarge',
  // Requests of which the one before is no beginning.
  'compactions',
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

/** What quantiles are taken of. Lists, since tallies travel between processes as JSON. */
const samples = [
  // At each compaction, the share of the room that the newest messages as they were take.
  'recents',
  // Requests from one compaction to the next.
  'gaps',
  // Before each compaction, the largest prompt since the one before, as a share of the budget.
  'fills',
] as const

export type Samples = Record<(typeof samples)[number], readonly number[]>

/** The sums of a row, and its samples. */
export type Tally = Record<(typeof figures)[number], number> & Samples

/** Numbers are added, lists are concatenated. */
export function sumOf(tallies: readonly Partial<Tally>[]): Tally {
  const sum = openTally()
  for (const tally of tallies) for (const figure of figures) sum[figure] += tally[figure] ?? 0
  for (const name of samples) sum[name] = tallies.flatMap((tally) => tally[name] ?? [])
  return sum
}

/** Nothing failed or arrived broken; nor was anything refused, unless a refusal has to teach how upstreams count. */
export function isSound(tally: Tally, areRefusalsAllowed = false): boolean {
  const refused = areRefusalsAllowed ? 0 : tally.refused
  return refused + tally.errors + tally.failedOpen + tally.broken === 0
}

/** From every view an agent could go on. */
export function isWorkable(tally: Tally): boolean {
  return tally.newestAbsent + tally.samePrompt + tally.taskGone === 0
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
    newestAbsent: 0,
    samePrompt: 0,
    taskGone: 0,
    actions: 0,
    actionsHeld: 0,
    observations: 0,
    observationsHeld: 0,
    tooLarge: 0,
    compactions: 0,
    summaryCalls: 0,
    summaryTokens: 0,
    beyond: 0,
    refused: 0,
    errors: 0,
    failedOpen: 0,
    broken: 0,
    recents: [],
    gaps: [],
    fills: [],
  }
}
