import type { ObservedCall, ObservedRequest, ObservedRun } from './observed.ts'

/** What a run is read by. */
export type Figures = {
  readonly requests: number
  readonly strides: number
  /** Of the strides, by what stood for the folded messages. */
  readonly stridesBy: Readonly<Record<string, number>>
  /** At most so many requests were held back for a summary. */
  readonly waited: number
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
  /** The same without the calls for a stride that the recording ends before. */
  readonly ratioOfStrides: number | null
  readonly strideLatency: Latency
  readonly otherLatency: Latency
  readonly refused: number
  readonly errors: number
}

/** In milliseconds, as the client sees it; null where there was no such request. */
export type Latency = { readonly median: number | null; readonly p95: number | null }

export function figuresOf({ requests, calls }: ObservedRun): Figures {
  const strides = requests.filter(({ isStride }) => isStride)
  const others = requests.filter(({ isStride }) => !isStride)
  const promptTokens = sumOf(requests, (request) => request.promptTokens)
  const cachedTokens = sumOf(requests, (request) => request.cachedTokens)
  const summaryPromptTokens = sumOf(calls, (call) => call.promptTokens)
  const lastStrideMs = strides.at(-1)?.endedMs ?? 0
  const aheadTokens = sumOf(
    calls.filter(({ beganMs }) => beganMs > lastStrideMs),
    (call) => call.promptTokens,
  )
  const expiredTokens = requests.at(-1)?.foldedTokens ?? 0
  const ofExpired = (tokens: number) => (expiredTokens === 0 ? null : tokens / expiredTokens)
  return {
    requests: requests.length,
    strides: strides.length,
    stridesBy: Object.fromEntries(
      [...Map.groupBy(strides, ({ summary }) => summary)].map(([summary, all]) => [summary, all.length]),
    ),
    waited: requests.filter((request) => calls.some((call) => isHeldBackFor(request, call))).length,
    promptTokens,
    cachedShare: promptTokens === 0 ? 0 : cachedTokens / promptTokens,
    weightedTokens: promptTokens - cachedTokens + CACHED_WEIGHT * cachedTokens,
    summaryCalls: calls.length,
    summaryPromptTokens,
    summaryCompletionTokens: sumOf(calls, (call) => call.completionTokens),
    expiredTokens,
    ratio: ofExpired(summaryPromptTokens),
    ratioOfStrides: ofExpired(summaryPromptTokens - aheadTokens),
    strideLatency: latencyOf(strides),
    otherLatency: latencyOf(others),
    refused: sumOf(requests, (request) => request.refused),
    errors: requests.filter(({ isReply }) => !isReply).length,
  }
}

// --- internal ---

// What a cached token costs of another's price.
const CACHED_WEIGHT = 0.1
// No request takes so long on its way through Foldgate, unless it waits.
const HELD_BACK_MS = 1000

/**
 * Whether a call ended while the request was on its way, as one does that is waited for; or whether it ran beside it
 * for so long that it was waited for in vain. A call that happens to end in those few milliseconds counts too.
 */
function isHeldBackFor({ beganMs, acceptedMs, endedMs }: ObservedRequest, call: ObservedCall): boolean {
  const untilMs = acceptedMs ?? endedMs
  const callEndMs = call.endedMs ?? Infinity
  if (callEndMs >= beganMs && callEndMs <= untilMs) return true
  return untilMs - Math.max(beganMs, call.beganMs) >= HELD_BACK_MS && callEndMs > untilMs
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
