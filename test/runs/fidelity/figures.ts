import { addTo, alignedTable, grouped, quantile } from '../harness/table.ts'

const noFigures = {
  requests: 0,
  // Things that the next message names and the history holds, and those of them that the view holds.
  things: 0,
  thingsHeld: 0,
  // Of those, the ones that the newest suffix has lost.
  farThings: 0,
  farThingsHeld: 0,
  // Six-word runs of the next message that stand in the history, and those of them that stand in the view.
  runs: 0,
  runsHeld: 0,
  // Exact texts that the next message replaces and the history holds whole, and those of them that the view holds.
  quotes: 0,
  quotesHeld: 0,
  // Tokens of the assistant's messages, words and calls, in requests that are not sent as they came; and those that stand.
  ownTokens: 0,
  ownTokensHeld: 0,
  // Lines that recaps quote from results although a later edit has replaced them.
  stale: 0,
  promptTokens: 0,
  cachedTokens: 0,
  // Requests whose newest message is not there by its share, whose prompt is the one before, whose task is not there.
  newestAbsent: 0,
  samePrompt: 0,
  taskGone: 0,
  // Of each request's newest assistant messages and newest results; and those of them that can be worked from.
  actions: 0,
  actionsHeld: 0,
  observations: 0,
  observationsHeld: 0,
  // Requests whose system messages, tools and newest message of the user exceed the budget by themselves. Else they
  // count only for the newest message, the same prompt, and what Foldgate itself did wrong.
  tooLarge: 0,
  // Requests of which the one before is no beginning.
  compactions: 0,
  // What a summary model was asked beside, and the tokens of those prompts.
  summaryCalls: 0,
  summaryTokens: 0,
  // Requests that leave the reply less than the reserve.
  beyond: 0,
  // Attempts that the upstream refused.
  refused: 0,
  // Answers that reached the client without being a reply.
  errors: 0,
  failedOpen: 0,
  // Requests that break more message rules than the client's own.
  broken: 0,
}

/** What quantiles are taken of. Lists, since tallies travel between processes as JSON. */
type Samples = {
  /** At each compaction, the share of the room that the newest messages as they were take. */
  readonly recents: readonly number[]
  /** Requests from one compaction to the next. */
  readonly gaps: readonly number[]
  /** Before each compaction, the largest prompt since the one before, as a share of the budget. */
  readonly fills: readonly number[]
}

/** The sums of a row, and its samples. */
export type Tally = typeof noFigures & Samples

/** Numbers are added, lists are concatenated. */
export function sumOf(tallies: readonly Partial<Tally>[]): Tally {
  const sum = { ...noFigures }
  for (const { recents: _recents, gaps: _gaps, fills: _fills, ...figures } of tallies) addTo(sum, figures)
  const all = (name: keyof Samples) => tallies.flatMap((tally) => tally[name] ?? [])
  return { ...sum, recents: all('recents'), gaps: all('gaps'), fills: all('fills') }
}

/** Nothing failed or arrived broken; nor was anything refused, unless a refusal has to teach how upstreams count. */
export function isSound(tally: Tally, areRefusalsAllowed = false): boolean {
  const refused = areRefusalsAllowed ? 0 : tally.refused
  return refused + tally.errors + tally.failedOpen + tally.broken === 0
}

/** From every view an agent could go on. */
export const isWorkable = (tally: Tally): boolean =>
  tally.newestAbsent + tally.samePrompt + tally.taskGone === 0

/** What stands below the tables, so that nobody takes the row with summaries for what a model would do. */
export const summariesNote =
  'Summaries come from a stand-in, a program that picks out names and phrases, not from a model; "summary tokens" (of its own prompts, a request) come on top of "weighted".'

/** The figures that a row is read by. Shares are percentages, but for fill, which is of 1; gaps are in requests. */
export function figuresOf(tally: Tally) {
  // With an upstream of another count, a file of single requests holds none to measure.
  const requests = Math.max(1, tally.requests)
  return {
    recall: share(tally.thingsHeld, tally.things),
    far: share(tally.farThingsHeld, tally.farThings),
    verbatim: share(tally.runsHeld, tally.runs),
    quotes: share(tally.quotesHeld, tally.quotes),
    own: share(tally.ownTokensHeld, tally.ownTokens),
    actions: share(tally.actionsHeld, tally.actions),
    observations: share(tally.observationsHeld, tally.observations),
    recent: quantilesOf(tally.recents.map((recent) => 100 * recent)),
    cacheHits: share(tally.cachedTokens, tally.promptTokens),
    weightedTokens: (tally.promptTokens - tally.cachedTokens + CACHED_WEIGHT * tally.cachedTokens) / requests,
    compactionsPer100: (100 * tally.compactions) / requests,
    gap: quantilesOf(tally.gaps),
    fill: quantilesOf(tally.fills),
    // What the summary model read for a request, on the average, at its own price: no part of `weightedTokens`.
    summaryTokens: tally.summaryTokens / requests,
  }
}

/** Two aligned tables under a title: what of the conversations is there, and what that costs. */
export function tableOf(title: string, rows: readonly { name: string; tally: Tally }[]): string {
  const blocks = Object.entries(columns).map(([name, cells]) =>
    alignedTable([
      [name, ...cells.map(([head]) => head)],
      ...rows.map((row) => [row.name, ...cells.map(([, cell]) => cell(figuresOf(row.tally), row.tally))]),
    ]),
  )
  return `\n${title}\n\n${blocks.join('\n\n')}\n`
}

/** One request, as its prompt follows the one before. */
export type Beat = {
  /** Whether the prompt before is no beginning of this one. */
  readonly isCompacted: boolean
  readonly promptTokens: number
}

/** Of a conversation's requests: how far its compactions lie apart, and how full the budget was before each. */
export function rhythmOf(beats: readonly Beat[], budgetTokens: number): Pick<Samples, 'gaps' | 'fills'> {
  const compacted = beats.flatMap(({ isCompacted }, index) => (isCompacted ? [index] : []))
  const stretches = compacted.map((end, order) => beats.slice(compacted[order - 1] ?? 0, end))
  return {
    gaps: stretches.slice(1).map(({ length }) => length),
    fills: stretches
      .filter(({ length }) => length > 0)
      .map((stretch) => Math.max(...stretch.map(({ promptTokens }) => promptTokens)) / budgetTokens),
  }
}

// What a cached token costs of another's price.
const CACHED_WEIGHT = 0.1

type Column = readonly [head: string, cell: (figures: ReturnType<typeof figuresOf>, tally: Tally) => string]

const columns: Readonly<Record<string, readonly Column[]>> = {
  'what is there': [
    ['newest absent', (_, { newestAbsent }) => grouped(newestAbsent)],
    ['same prompt', (_, { samePrompt }) => grouped(samePrompt)],
    ['task gone', (_, { taskGone }) => grouped(taskGone)],
    ['actions', ({ actions }) => actions.toFixed(1)],
    ['observations', ({ observations }) => observations.toFixed(1)],
    ['recent p10', ({ recent }) => decimal(recent.tenth, 1)],
    ['recent', ({ recent }) => decimal(recent.median, 1)],
    ['recall', ({ recall }) => recall.toFixed(1)],
    ['far', ({ far }) => far.toFixed(1)],
    ['verbatim', ({ verbatim }) => verbatim.toFixed(1)],
    ['quotes', ({ quotes }) => quotes.toFixed(1)],
    ['own words', ({ own }) => own.toFixed(1)],
    ['stale', (_, { stale }) => grouped(stale)],
    ['fixed too large', (_, { tooLarge }) => grouped(tooLarge)],
  ],
  'what it costs': [
    ['cache hits', ({ cacheHits }) => cacheHits.toFixed(1)],
    ['weighted', ({ weightedTokens }) => grouped(weightedTokens)],
    ['tokens', (_, { promptTokens, requests }) => grouped(promptTokens / Math.max(1, requests))],
    ['compactions/100', ({ compactionsPer100 }) => compactionsPer100.toFixed(1)],
    ['gap p10', ({ gap }) => decimal(gap.tenth, 0)],
    ['gap', ({ gap }) => decimal(gap.median, 0)],
    ['fill p10', ({ fill }) => decimal(fill.tenth, 2)],
    ['fill', ({ fill }) => decimal(fill.median, 2)],
    ['summary calls', (_, { summaryCalls }) => grouped(summaryCalls)],
    ['summary tokens', ({ summaryTokens }) => grouped(summaryTokens)],
    ['beyond', (_, { beyond }) => grouped(beyond)],
    ['refused', (_, { refused }) => grouped(refused)],
    ['errors', (_, { errors }) => grouped(errors)],
    ['failed open', (_, { failedOpen }) => grouped(failedOpen)],
    ['broken', (_, { broken }) => grouped(broken)],
  ],
}

/** Null where there is no sample. */
const quantilesOf = (samples: readonly number[]) => ({
  tenth: quantile(samples, 0.1),
  median: quantile(samples, 0.5),
})

/** As a percentage; of nothing, nothing is lost. */
const share = (part: number, all: number): number => (all === 0 ? 100 : (100 * part) / all)

function decimal(number: number | null, digits: number): string {
  return number === null ? '-' : number.toFixed(digits)
}
