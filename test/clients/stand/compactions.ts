export type SentRequest = {
  /** Its messages or items, each as it was written. */
  readonly rawEntries: readonly string[]
  readonly promptTokens: number
}

/** The requests that do not begin with all entries of the request before: nothing else tells of a compaction at the upstream. */
export function compactionsOf(requests: readonly SentRequest[]): readonly number[] {
  return requests.flatMap(({ rawEntries }, index) => {
    const before = requests[index - 1]?.rawEntries ?? []
    return before.some((entry, position) => rawEntries[position] !== entry) ? [index] : []
  })
}

/** For each compaction of a request that would have fitted with some room to spare: what its prompt would have taken. */
export function earlyCompactions(requests: readonly SentRequest[], run: RunSizes): readonly string[] {
  return compactionsOf(requests).flatMap((index) => {
    const grown = (requests[index - 1]?.promptTokens ?? 0) + run.roundTokens
    return grown < run.budgetTokens * FULL
      ? [`request ${index + 1}: ${grown} of ${run.budgetTokens} tokens`]
      : []
  })
}

export type RunSizes = {
  readonly requests: number
  /** Tokens that a prompt may have: the window less the output that is asked for. */
  readonly budgetTokens: number
  /** Tokens of the first prompt: system messages, tools and the task, which no compaction takes out. */
  readonly fixedTokens: number
  /** Tokens of the largest round, the call and its result. */
  readonly roundTokens: number
}

/**
 * How many compactions a run of equal rounds needs. Its prompt starts with what is fixed and grows by a round with each
 * request, so nothing has to be compacted while the rounds fit beside that. The request after those is compacted, down
 * to the target or below, which leaves three tenths of what is not fixed for the requests that follow: as many as whole
 * rounds fit in there are sent as they are, then comes the next compaction. One more is allowed in the whole run, for a
 * count that was a guess before the first answers told.
 */
export function compactionsMax({ requests, budgetTokens, fixedTokens, roundTokens }: RunSizes): number {
  const roomTokens = budgetTokens - fixedTokens
  const beforeTheFirst = 1 + Math.floor(roomTokens / roundTokens)
  const freedTokens = roomTokens * (1 - TARGET)
  const toTheNext = 1 + Math.floor(freedTokens / roundTokens)
  return Math.ceil(Math.max(0, requests - beforeTheFirst) / toTheNext) + SLACK
}

// --- internal ---

/** Where a compaction ends by default, as a share of what is not fixed. */
const TARGET = 0.7

const SLACK = 1

/** A prompt of this share of the budget may be taken for too large: Foldgate counts before the upstream does. */
const FULL = 0.98
