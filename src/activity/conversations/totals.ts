import { z } from 'zod'
import type { UsageRow } from '../journal/rows.ts'
import type { Headline } from './conversation-cards.ts'

/** What requests and summaries come to, over a time and in one process. */
export const totalsSchema = z.object({
  process: z.string(),
  /** ISO 8601, in UTC. */
  since: z.string(),
  requests: z.number(),
  beyond_window: z.number(),
  beyond_unknown: z.number(),
  compactions: z.number(),
  recoveries: z.number(),
  saved_tokens: z.number(),
  /** What profiles that only observe would have saved. */
  observed_tokens: z.number().default(0),
  summary_tokens: z.number(),
  /** In the currency of `prices`: of the requests that were changed and the summaries whose price is known. */
  saved_money: z.number(),
  summary_money: z.number(),
  priced_requests: z.number(),
  unknown_requests: z.number(),
  priced_summaries: z.number(),
  unknown_summaries: z.number(),
})

export type Totals = z.output<typeof totalsSchema>

export function noTotals(process: string, since: string): Totals {
  return {
    process,
    since,
    requests: 0,
    beyond_window: 0,
    beyond_unknown: 0,
    compactions: 0,
    recoveries: 0,
    saved_tokens: 0,
    observed_tokens: 0,
    summary_tokens: 0,
    saved_money: 0,
    summary_money: 0,
    priced_requests: 0,
    unknown_requests: 0,
    priced_summaries: 0,
    unknown_summaries: 0,
  }
}

/** What one request adds. */
export function totalsOfRow(row: UsageRow): Totals {
  const totals = noTotals(row.process, row.time)
  const { tokens_received: received, tokens_sent: sent, prompt_cost: cost, whole_prompt_cost: whole } = row
  // A bound is no count: what was not counted was sent as it came.
  const savedTokens = received === null || sent === null || row.tokens_are_bounds ? 0 : received - sent
  const isChanged = row.passes.length > 0
  const isPriced = isChanged && cost !== null && whole !== null
  return {
    ...totals,
    requests: 1,
    beyond_window: row.beyond_window === true ? 1 : 0,
    // What was not answered, or refused for another reason, would not have been helped by any size.
    beyond_unknown: row.beyond_window === null && (row.status ?? 500) < 400 ? 1 : 0,
    compactions: row.compaction === null ? 0 : 1,
    recoveries: row.action === 'recovered' ? 1 : 0,
    saved_tokens: savedTokens,
    observed_tokens:
      received === null || row.observed_tokens_sent === null || row.tokens_are_bounds
        ? 0
        : received - row.observed_tokens_sent,
    saved_money: isPriced ? whole - cost : 0,
    priced_requests: isPriced ? 1 : 0,
    unknown_requests: isChanged && !isPriced ? 1 : 0,
  }
}

/** What one summary adds. */
export function totalsOfSummary(
  { tokens, cost }: { readonly tokens: number; readonly cost: number | null },
  process: string,
  time: string,
): Totals {
  return {
    ...noTotals(process, time),
    summary_tokens: tokens,
    summary_money: cost ?? 0,
    priced_summaries: cost === null ? 0 : 1,
    unknown_summaries: cost === null ? 1 : 0,
  }
}

/** Adds `more` to `sum`. */
export function addTotals(sum: Totals, more: Totals): void {
  if (more.since < sum.since) sum.since = more.since
  // Each by its name: looked up in a list, they cost every request more than all the rest of its books.
  sum.requests += more.requests
  sum.beyond_window += more.beyond_window
  sum.beyond_unknown += more.beyond_unknown
  sum.compactions += more.compactions
  sum.recoveries += more.recoveries
  sum.saved_tokens += more.saved_tokens
  sum.observed_tokens += more.observed_tokens
  sum.summary_tokens += more.summary_tokens
  sum.saved_money += more.saved_money
  sum.summary_money += more.summary_money
  sum.priced_requests += more.priced_requests
  sum.unknown_requests += more.unknown_requests
  sum.priced_summaries += more.priced_summaries
  sum.unknown_summaries += more.unknown_summaries
}

/** The headline of what all processes have written down; null totals: nothing yet. */
export function headlineOf(totals: Totals | null): Headline {
  const all = totals ?? noTotals('', '')
  return {
    since: totals === null ? null : totals.since,
    requests: all.requests,
    beyondWindow: all.beyond_window,
    beyondUnknown: all.beyond_unknown,
    compactions: all.compactions,
    recoveries: all.recoveries,
    savedTokens: all.saved_tokens,
    observedTokens: all.observed_tokens,
    summaryTokens: all.summary_tokens,
    savedMoney: isUnknown(all.priced_requests, all.unknown_requests) ? null : all.saved_money,
    summaryMoney: isUnknown(all.priced_summaries, all.unknown_summaries) ? null : all.summary_money,
    unknownRequests: all.unknown_requests,
    unknownSummaries: all.unknown_summaries,
  }
}

// --- internal ---

/** Where there were some and none of them has a price, nothing is known. */
function isUnknown(priced: number, unknown: number): boolean {
  return priced === 0 && unknown > 0
}
