import type { SummaryCall } from '../../support/summary-model.ts'
import { grouped, quantile, runsTable, sumOf } from '../harness/table.ts'

/** One request of the client's as it went. Times are those of `performance.now()`. */
export type ObservedRequest = {
  readonly beganMs: number
  /** When the upstream had it; null where it never did. */
  readonly acceptedMs: number | null
  readonly endedMs: number
  readonly promptTokens: number
  readonly cachedTokens: number
  /** Whether what was sent before is no beginning of it. */
  readonly isCompaction: boolean
  /** `none`, `ready`, `pending` or `recap`, as the answer's header says. */
  readonly summary: string
  /** Tokens of the client's messages that are in its view in no form of their own any more. */
  readonly foldedTokens: number
  /** Attempts that the upstream refused. */
  readonly refused: number
  readonly isReply: boolean
}

export type ObservedCall = Pick<SummaryCall, 'promptTokens' | 'completionTokens' | 'beganMs' | 'endedMs'>

/** One conversation, from its first request to its last, and what a summary model was asked meanwhile. */
export type ObservedRun = {
  readonly requests: readonly ObservedRequest[]
  readonly calls: readonly ObservedCall[]
}

/** What a run is read by. */
export type Figures = {
  readonly requests: number
  readonly compactions: number
  /** Of the compactions, by what stood for the folded messages. */
  readonly compactionsBy: Readonly<Record<string, number>>
  /** At most so many requests were held back for a summary, the longest of them for so many milliseconds. */
  readonly waited: number
  readonly waitedMsMost: number
  readonly promptTokens: number
  readonly cachedShare: number
  /** Prompt tokens of the client's requests, cached ones at a tenth. */
  readonly weightedTokens: number
  readonly summaryCalls: number
  /** What the summary model read and wrote, at its own full price. */
  readonly summaryPromptTokens: number
  readonly summaryCompletionTokens: number
  /** Tokens of the client's messages that were folded in the end. */
  readonly expiredTokens: number
  /** Of them; null where nothing expired. */
  readonly ratio: number | null
  /** The same without the calls for a compaction that the recording ends before. */
  readonly ratioOfCompactions: number | null
  readonly compactionLatency: Latency
  readonly otherLatency: Latency
  readonly refused: number
  readonly errors: number
}

/** In milliseconds, as the client sees it; null where there was no such request. */
export type Latency = { readonly median: number | null; readonly p95: number | null }

export function figuresOf({ requests, calls }: ObservedRun): Figures {
  const compactions = requests.filter(({ isCompaction }) => isCompaction)
  const others = requests.filter(({ isCompaction }) => !isCompaction)
  const promptTokens = sumOf(requests, (request) => request.promptTokens)
  const cachedTokens = sumOf(requests, (request) => request.cachedTokens)
  const summaryPromptTokens = sumOf(calls, (call) => call.promptTokens)
  const lastCompactionMs = compactions.at(-1)?.endedMs ?? 0
  const aheadTokens = sumOf(
    calls.filter(({ beganMs }) => beganMs > lastCompactionMs),
    (call) => call.promptTokens,
  )
  const expiredTokens = requests.at(-1)?.foldedTokens ?? 0
  const ofExpired = (tokens: number) => (expiredTokens === 0 ? null : tokens / expiredTokens)
  const waits = requests
    .map((request) => Math.max(0, ...calls.map((call) => heldBackMs(request, call))))
    .filter((waitMs) => waitMs >= WAIT_MS_MIN)
  return {
    requests: requests.length,
    compactions: compactions.length,
    compactionsBy: Object.fromEntries(
      [...Map.groupBy(compactions, ({ summary }) => summary)].map(([summary, all]) => [summary, all.length]),
    ),
    waited: waits.length,
    waitedMsMost: Math.max(0, ...waits),
    promptTokens,
    cachedShare: promptTokens === 0 ? 0 : cachedTokens / promptTokens,
    weightedTokens: promptTokens - cachedTokens + CACHED_WEIGHT * cachedTokens,
    summaryCalls: calls.length,
    summaryPromptTokens,
    summaryCompletionTokens: sumOf(calls, (call) => call.completionTokens),
    expiredTokens,
    ratio: ofExpired(summaryPromptTokens),
    ratioOfCompactions: ofExpired(summaryPromptTokens - aheadTokens),
    compactionLatency: latencyOf(compactions),
    otherLatency: latencyOf(others),
    refused: sumOf(requests, (request) => request.refused),
    errors: requests.filter(({ isReply }) => !isReply).length,
  }
}

/** A column for each run, a row for each figure. */
export const tableOf = (runs: readonly { readonly name: string; readonly run: Figures }[]): string =>
  runsTable(runs, cells)

// What a cached token costs of another's price.
const CACHED_WEIGHT = 0.1
// A call that happens to end in the few milliseconds that a request takes is not waited for.
const WAIT_MS_MIN = 10
// No request takes so long on its way through Foldgate, unless it waits.
const HELD_BACK_MS = 1000

/**
 * How long a request was on its way to the upstream while a call ran, where the call ended meanwhile, as one does that
 * is waited for; or where it took so long that it was waited for in vain. At a compaction, which takes longer than other
 * requests, a call may still end by chance: what comes out is a bound.
 */
function heldBackMs({ beganMs, acceptedMs, endedMs }: ObservedRequest, call: ObservedCall): number {
  const untilMs = acceptedMs ?? endedMs
  const callEndMs = call.endedMs ?? Infinity
  const besideMs = Math.min(untilMs, callEndMs) - Math.max(beganMs, call.beganMs)
  return callEndMs <= untilMs || besideMs >= HELD_BACK_MS ? besideMs : 0
}

function latencyOf(requests: readonly ObservedRequest[]): Latency {
  const latencies = requests.map(({ beganMs, endedMs }) => endedMs - beganMs)
  return { median: quantile(latencies, 0.5), p95: quantile(latencies, 0.95) }
}

const cells: readonly (readonly [string, (figures: Figures) => string])[] = [
  ['requests', ({ requests }) => grouped(requests)],
  ['compactions', ({ compactions }) => grouped(compactions)],
  ['  by their summary (ready)', ({ compactionsBy }) => grouped(compactionsBy['ready'] ?? 0)],
  ['  while it was written (pending)', ({ compactionsBy }) => grouped(compactionsBy['pending'] ?? 0)],
  ['  by a recap', ({ compactionsBy }) => grouped(compactionsBy['recap'] ?? 0)],
  ['  by neither (none)', ({ compactionsBy }) => grouped(compactionsBy['none'] ?? 0)],
  ['requests that waited for a summary', ({ waited }) => grouped(waited)],
  ['  the longest', ({ waited, waitedMsMost }) => milliseconds(waited === 0 ? null : waitedMsMost)],
  ['prompt tokens', ({ promptTokens }) => grouped(promptTokens)],
  ['  from the cache', ({ cachedShare }) => `${(100 * cachedShare).toFixed(1)} %`],
  ['  weighted, cached ones at 0.1', ({ weightedTokens }) => grouped(weightedTokens)],
  ['summary calls', ({ summaryCalls }) => grouped(summaryCalls)],
  ['  prompt tokens, at full price', ({ summaryPromptTokens }) => grouped(summaryPromptTokens)],
  ['  completion tokens', ({ summaryCompletionTokens }) => grouped(summaryCompletionTokens)],
  ['expired tokens', ({ expiredTokens }) => grouped(expiredTokens)],
  ['  sent to the summary model', ({ ratio }) => times(ratio)],
  ['  without the compaction to come', ({ ratioOfCompactions }) => times(ratioOfCompactions)],
  ['compaction requests, median', ({ compactionLatency }) => milliseconds(compactionLatency.median)],
  ['  95 %', ({ compactionLatency }) => milliseconds(compactionLatency.p95)],
  ['other requests, median', ({ otherLatency }) => milliseconds(otherLatency.median)],
  ['  95 % ', ({ otherLatency }) => milliseconds(otherLatency.p95)],
  ['refused by the upstream', ({ refused }) => grouped(refused)],
  ['errors', ({ errors }) => grouped(errors)],
]

function times(ratio: number | null): string {
  return ratio === null ? '-' : `${ratio.toFixed(2)} ×`
}

function milliseconds(latency: number | null): string {
  return latency === null ? '-' : `${latency.toFixed(1)} ms`
}
