import { alignedTable } from '../support/aligned-table.ts'
import type { Tally } from './tally.ts'

/** The rows of a table: a name and its sums. */
export type NamedTally = { readonly name: string; readonly tally: Tally }

/** What stands below the tables, so that nobody takes the row with summaries for what a model would do. */
export const summariesNote =
  'Summaries come from a stand-in, a program that picks out names and phrases, not from a model; "summary tokens" (of its own prompts, a request) come on top of "weighted".'

/** The figures that a row is read by. */
export type Figures = {
  readonly recall: number
  readonly far: number
  readonly verbatim: number
  readonly cacheHits: number
  readonly weightedTokens: number
  readonly stridesPer100: number
  /** What the summary model read for a request, on the average, at its own price: no part of `weightedTokens`. */
  readonly summaryTokens: number
}

export function figuresOf(tally: Tally): Figures {
  return {
    recall: share(tally.thingsHeld, tally.things),
    far: share(tally.farThingsHeld, tally.farThings),
    verbatim: share(tally.runsHeld, tally.runs),
    cacheHits: share(tally.cachedTokens, tally.promptTokens),
    weightedTokens:
      (tally.promptTokens - tally.cachedTokens + CACHED_WEIGHT * tally.cachedTokens) / tally.requests,
    stridesPer100: share(tally.strides, tally.requests),
    summaryTokens: tally.summaryTokens / tally.requests,
  }
}

/** An aligned table under its title. */
export function tableOf(title: string, rows: readonly NamedTally[]): string {
  const cells = [HEAD, ...rows.map(cellsOf)]
  return `\n${title}\n${alignedTable(cells)}\n`
}

// --- internal ---

// What a cached token costs of another's price.
const CACHED_WEIGHT = 0.1

const HEAD = [
  '',
  'recall',
  'far',
  'verbatim',
  'cache hits',
  'weighted',
  'tokens',
  'strides/100',
  'summary calls',
  'summary tokens',
  'beyond',
  'refused',
  'errors',
  'failed open',
  'broken',
]

function cellsOf({ name, tally }: NamedTally): readonly string[] {
  const figures = figuresOf(tally)
  const { beyond, refused, errors, failedOpen, broken } = tally
  return [
    name,
    ...[figures.recall, figures.far, figures.verbatim, figures.cacheHits].map((each) => each.toFixed(1)),
    whole(figures.weightedTokens),
    whole(tally.promptTokens / tally.requests),
    figures.stridesPer100.toFixed(1),
    whole(tally.summaryCalls),
    whole(figures.summaryTokens),
    ...[beyond, refused, errors, failedOpen, broken].map(whole),
  ]
}

/** As a percentage; of nothing, nothing is lost. */
function share(part: number, all: number): number {
  return all === 0 ? 100 : (100 * part) / all
}

function whole(number: number): string {
  return Math.round(number).toLocaleString('en-US')
}
