import type { ObservedCall, ObservedRequest, ObservedRun } from './observed.ts'

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

// --- internal ---

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
  const sorted = requests
    .map(({ beganMs, endedMs }) => endedMs - beganMs)
    .toSorted((one, other) => one - other)
  const at = (share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? null
  return { median: at(0.5), p95: at(0.95) }
}

function sumOf<Item>(items: readonly Item[], figure: (item: Item) => number): number {
  return items.reduce((sum, item) => sum + figure(item), 0)
}
