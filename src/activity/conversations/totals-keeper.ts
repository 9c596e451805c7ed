import { parseJsonText } from '../../conversation/json-value.ts'
import type { UsageRow } from '../journal/rows.ts'
import type { Headline } from './conversation-cards.ts'
import {
  addTotals,
  headlineOf,
  noTotals,
  totalsOfRow,
  totalsOfSummary,
  totalsSchema,
  type Totals,
} from './totals.ts'

/** What all requests on record come to: those of this process as they end, those of others as they are read. */
export type TotalsKeeper = {
  readonly addRow: (row: UsageRow) => void
  readonly addSummary: (
    summary: { readonly tokens: number; readonly cost: number | null },
    time: string,
  ) => void
  /** A row of the journal, which another process may have written. */
  readonly addWritten: (text: string) => void
  readonly headline: () => Headline
  /** Writes down what has come since it last did. */
  readonly write: () => void
  readonly close: () => void
}

export function createTotalsKeeper(options: {
  readonly process: string
  readonly writeDown: (text: string) => void
  /** How often it is written down, in milliseconds. Default a minute. */
  readonly periodMs?: number
}): TotalsKeeper {
  const { process } = options
  let all: Totals | null = null
  let unwritten: Totals | null = null

  function add(totals: Totals): void {
    all = joined(all, totals)
    unwritten = joined(unwritten, totals)
  }
  function write(): void {
    if (unwritten !== null) options.writeDown(JSON.stringify(unwritten))
    unwritten = null
  }
  const timer = setInterval(write, options.periodMs ?? PERIOD_MS)
  timer.unref()

  return {
    addRow: (row) => add(totalsOfRow(row)),
    addSummary: (summary, time) => add(totalsOfSummary(summary, process, time)),
    addWritten: (text) => {
      const totals = totalsSchema.safeParse(parseJsonText(text)).data
      // What this process has written down it has added up already.
      if (totals !== undefined && totals.process !== process) all = joined(all, totals)
    },
    headline: () => headlineOf(all),
    write,
    close: () => {
      clearInterval(timer)
      write()
    },
  }
}

// --- internal ---

const PERIOD_MS = 60_000

function joined(one: Totals | null, more: Totals): Totals {
  const sum = one ?? noTotals(more.process, more.since)
  addTotals(sum, more)
  return sum
}
