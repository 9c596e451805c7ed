import { alignedTable } from '../../support/aligned-table.ts'
import { quantile } from './quantile.ts'
import type { Tally } from './tally.ts'

/** The rows of a table: a name and its sums. */
export type NamedTally = { readonly name: string; readonly tally: Tally }

/** What stands below the tables, so that nobody takes the row with summaries for what a model would do. */
export const summariesNote =
  'Summaries come from a stand-in, a program that picks out names and phrases, not from a model; "summary tokens" (of its own prompts, a request) come on top of "weighted".'

/** The figures that a row is read by. Shares are percentages, but for fill; null where there is no sample. */
export type Figures = {
  readonly recall: number
  readonly far: number
  readonly verbatim: number
  readonly actions: number
  readonly observations: number
  readonly recent: Quantiles
  readonly cacheHits: number
  readonly weightedTokens: number
  readonly compactionsPer100: number
  /** In requests. */
  readonly gap: Quantiles
  /** Of 1. */
  readonly fill: Quantiles
  /** What the summary model read for a request, on the average, at its own price: no part of `weightedTokens`. */
  readonly summaryTokens: number
}

export type Quantiles = { readonly tenth: number | null; readonly median: number | null }

export function figuresOf(tally: Tally): Figures {
  // With an upstream of another count, a file of single requests holds none to measure.
  const requests = Math.max(1, tally.requests)
  return {
    recall: share(tally.thingsHeld, tally.things),
    far: share(tally.farThingsHeld, tally.farThings),
    verbatim: share(tally.runsHeld, tally.runs),
    actions: share(tally.actionsHeld, tally.actions),
    observations: share(tally.observationsHeld, tally.observations),
    recent: quantilesOf(tally.recents.map((recent) => 100 * recent)),
    cacheHits: share(tally.cachedTokens, tally.promptTokens),
    weightedTokens: (tally.promptTokens - tally.cachedTokens + CACHED_WEIGHT * tally.cachedTokens) / requests,
    compactionsPer100: (100 * tally.compactions) / requests,
    gap: quantilesOf(tally.gaps),
    fill: quantilesOf(tally.fills),
    summaryTokens: tally.summaryTokens / requests,
  }
}

/** Two aligned tables under a title: what of the conversations is there, and what that costs. */
export function tableOf(title: string, rows: readonly NamedTally[]): string {
  const blocks = [THERE, COST].map((columns) =>
    alignedTable([
      [columns.title, ...columns.cells.map(({ head }) => head)],
      ...rows.map(({ name, tally }) => {
        const figures = figuresOf(tally)
        return [name, ...columns.cells.map(({ cell }) => cell(figures, tally))]
      }),
    ]),
  )
  return `\n${title}\n\n${blocks.join('\n\n')}\n`
}

// --- internal ---

// What a cached token costs of another's price.
const CACHED_WEIGHT = 0.1

type Column = { readonly head: string; readonly cell: (figures: Figures, tally: Tally) => string }

type Block = { readonly title: string; readonly cells: readonly Column[] }

const THERE: Block = {
  title: 'what is there',
  cells: [
    { head: 'newest absent', cell: (_, { newestAbsent }) => whole(newestAbsent) },
    { head: 'same prompt', cell: (_, { samePrompt }) => whole(samePrompt) },
    { head: 'task gone', cell: (_, { taskGone }) => whole(taskGone) },
    { head: 'actions', cell: ({ actions }) => actions.toFixed(1) },
    { head: 'observations', cell: ({ observations }) => observations.toFixed(1) },
    { head: 'recent p10', cell: ({ recent }) => decimal(recent.tenth, 1) },
    { head: 'recent', cell: ({ recent }) => decimal(recent.median, 1) },
    { head: 'recall', cell: ({ recall }) => recall.toFixed(1) },
    { head: 'far', cell: ({ far }) => far.toFixed(1) },
    { head: 'verbatim', cell: ({ verbatim }) => verbatim.toFixed(1) },
    { head: 'fixed too large', cell: (_, { tooLarge }) => whole(tooLarge) },
  ],
}

const COST: Block = {
  title: 'what it costs',
  cells: [
    { head: 'cache hits', cell: ({ cacheHits }) => cacheHits.toFixed(1) },
    { head: 'weighted', cell: ({ weightedTokens }) => whole(weightedTokens) },
    { head: 'tokens', cell: (_, { promptTokens, requests }) => whole(promptTokens / Math.max(1, requests)) },
    { head: 'compactions/100', cell: ({ compactionsPer100 }) => compactionsPer100.toFixed(1) },
    { head: 'gap p10', cell: ({ gap }) => decimal(gap.tenth, 0) },
    { head: 'gap', cell: ({ gap }) => decimal(gap.median, 0) },
    { head: 'fill p10', cell: ({ fill }) => decimal(fill.tenth, 2) },
    { head: 'fill', cell: ({ fill }) => decimal(fill.median, 2) },
    { head: 'summary calls', cell: (_, { summaryCalls }) => whole(summaryCalls) },
    { head: 'summary tokens', cell: ({ summaryTokens }) => whole(summaryTokens) },
    { head: 'beyond', cell: (_, { beyond }) => whole(beyond) },
    { head: 'refused', cell: (_, { refused }) => whole(refused) },
    { head: 'errors', cell: (_, { errors }) => whole(errors) },
    { head: 'failed open', cell: (_, { failedOpen }) => whole(failedOpen) },
    { head: 'broken', cell: (_, { broken }) => whole(broken) },
  ],
}

function quantilesOf(samples: readonly number[]): Quantiles {
  return { tenth: quantile(samples, 0.1), median: quantile(samples, 0.5) }
}

/** As a percentage; of nothing, nothing is lost. */
function share(part: number, all: number): number {
  return all === 0 ? 100 : (100 * part) / all
}

function decimal(number: number | null, digits: number): string {
  return number === null ? '-' : number.toFixed(digits)
}

function whole(number: number): string {
  return Math.round(number).toLocaleString('en-US')
}
