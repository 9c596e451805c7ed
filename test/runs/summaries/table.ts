import { alignedTable } from '../../support/aligned-table.ts'
import type { Figures } from './figures.ts'
import type { Way } from './observe-run.ts'

/** A column for each run, a row for each figure. */
export function tableOf(
  title: string,
  runs: readonly { readonly way: Way; readonly figures: Figures }[],
): string {
  const head = ['', ...runs.map(({ way }) => way)]
  const rows = Object.entries(cells).map(([name, cell]) => [
    name,
    ...runs.map(({ figures }) => cell(figures)),
  ])
  return `${title}\n${alignedTable([head, ...rows])}\n`
}

// --- internal ---

const cells: Readonly<Record<string, (figures: Figures) => string>> = {
  requests: ({ requests }) => whole(requests),
  compactions: ({ compactions }) => whole(compactions),
  '  by their summary (ready)': ({ compactionsBy }) => whole(compactionsBy['ready'] ?? 0),
  '  while it was written (pending)': ({ compactionsBy }) => whole(compactionsBy['pending'] ?? 0),
  '  by a recap': ({ compactionsBy }) => whole(compactionsBy['recap'] ?? 0),
  '  by neither (none)': ({ compactionsBy }) => whole(compactionsBy['none'] ?? 0),
  'requests that waited for a summary': ({ waited }) => whole(waited),
  '  the longest': ({ waited, waitedMsMost }) => milliseconds(waited === 0 ? null : waitedMsMost),
  'prompt tokens': ({ promptTokens }) => whole(promptTokens),
  '  from the cache': ({ cachedShare }) => `${(100 * cachedShare).toFixed(1)} %`,
  '  weighted, cached ones at 0.1': ({ weightedTokens }) => whole(weightedTokens),
  'summary calls': ({ summaryCalls }) => whole(summaryCalls),
  '  prompt tokens, at full price': ({ summaryPromptTokens }) => whole(summaryPromptTokens),
  '  completion tokens': ({ summaryCompletionTokens }) => whole(summaryCompletionTokens),
  'expired tokens': ({ expiredTokens }) => whole(expiredTokens),
  '  sent to the summary model': ({ ratio }) => times(ratio),
  '  without the compaction to come': ({ ratioOfCompactions }) => times(ratioOfCompactions),
  'compaction requests, median': ({ compactionLatency }) => milliseconds(compactionLatency.median),
  '  95 %': ({ compactionLatency }) => milliseconds(compactionLatency.p95),
  'other requests, median': ({ otherLatency }) => milliseconds(otherLatency.median),
  '  95 % ': ({ otherLatency }) => milliseconds(otherLatency.p95),
  'refused by the upstream': ({ refused }) => whole(refused),
  errors: ({ errors }) => whole(errors),
}

function whole(number: number): string {
  return Math.round(number).toLocaleString('en-US')
}

function times(ratio: number | null): string {
  return ratio === null ? '-' : `${ratio.toFixed(2)} ×`
}

function milliseconds(latency: number | null): string {
  return latency === null ? '-' : `${latency.toFixed(1)} ms`
}
