import type { ChatAnswer } from './chat.ts'
import { grouped } from '../log/grouped.ts'

/** What one answered request says about tokens. */
export type RequestFigures = {
  readonly headers: FoldgateHeaders
  readonly conversationTokens: number
  readonly sentTokens: number
  readonly cachedTokens: number
  /** Less was sent than for the request before: the conversation was compacted further. */
  readonly isCompaction: boolean
}

/** The sums of a run. */
export type Tally = ReturnType<typeof openTally>

/** `windowTokens`: until an answer says what the window is. */
export function openTally(windowTokens: number) {
  return {
    windowTokens,
    requests: 0,
    failed: 0,
    failedInARow: 0,
    factsKept: 0,
    compactions: 0,
    recovered: 0,
    conversationTokens: 0,
    sentTokens: 0,
    cachedTokens: 0,
    largestConversationTokens: 0,
    largestSentTokens: 0,
    lastSentTokens: 0,
  }
}

/** Adds a request that failed to the sums. */
export function addFailure(tally: Tally): void {
  tally.requests += 1
  tally.failed += 1
  tally.failedInARow += 1
}

/** Adds an answered request to the sums. */
export function addAnswer(tally: Tally, answer: ChatAnswer): RequestFigures {
  tally.requests += 1
  tally.failedInARow = 0
  const headers = readFoldgateHeaders(answer.header)
  tally.windowTokens = headers.windowTokens ?? tally.windowTokens
  // The server's own count of what reached it comes first; what was not counted was sent as it came in.
  const sentTokens = answer.usage?.promptTokens ?? headers.sentTokens ?? headers.conversationTokensBelow ?? 0
  const conversationTokens = headers.conversationTokens ?? sentTokens
  const cachedTokens = answer.usage?.cachedTokens ?? 0
  const isCompaction = sentTokens < tally.lastSentTokens && conversationTokens > sentTokens
  if (isCompaction) tally.compactions += 1
  if (headers.action === 'recovered') tally.recovered += 1
  tally.conversationTokens += conversationTokens
  tally.sentTokens += sentTokens
  tally.cachedTokens += cachedTokens
  tally.largestConversationTokens = Math.max(tally.largestConversationTokens, conversationTokens)
  tally.largestSentTokens = Math.max(tally.largestSentTokens, sentTokens)
  tally.lastSentTokens = sentTokens
  return { headers, conversationTokens, sentTokens, cachedTokens, isCompaction }
}

/** The tokens that were sent and what they cost, as a sentence. */
export function costText({ sentTokens, cachedTokens }: Tally): string {
  // Cached tokens cost about a tenth at most providers.
  const weighted = grouped(sentTokens - cachedTokens * 0.9)
  return `${wholePercent(cachedTokens / Math.max(1, sentTokens))} of them from the prompt cache: as dear as ${weighted} with cached tokens at a tenth.`
}

export function wholePercent(ratio: number): string {
  return `${Math.round(ratio * 100)}%`
}

/** What Foldgate says it did with a request, read from the headers of the answer. */
type FoldgateHeaders = {
  /** `relayed`, `compacted`, …; null where the answer does not come from Foldgate. */
  readonly action: string | null
  readonly passes: readonly string[]
  /** Tokens of the conversation that came in; null where it was not counted. */
  readonly conversationTokens: number | null
  /** A bound above the conversation's tokens, where they were not counted. */
  readonly conversationTokensBelow: number | null
  readonly sentTokens: number | null
  /** Of the incoming conversation, as a ratio. */
  readonly pressure: number | null
  readonly windowTokens: number | null
  readonly summary: string | null
}

/** @internal exported for tests. */
export function readFoldgateHeaders(header: (name: string) => string | null): FoldgateHeaders {
  const [action] = (header('x-foldgate-action') ?? '').split(';')
  const passes = (header('x-foldgate-passes') ?? '').split(',').map((pass) => pass.trim())
  // "<N" stands for a count that was not needed: it is known to be below N.
  const tokens = /^\s*(<?)(\d+)(?:\s*;\s*sent=(<?)(\d+))?/.exec(header('x-foldgate-tokens') ?? '')
  const pressure = Number.parseFloat(header('x-foldgate-pressure') ?? '')
  const window = Number.parseInt(header('x-foldgate-window') ?? '', 10)
  return {
    action: action === undefined || action === '' ? null : action,
    passes: passes.filter((pass) => pass !== '' && pass !== 'none'),
    conversationTokens: tokens?.[1] === '' ? Number(tokens[2]) : null,
    conversationTokensBelow: tokens?.[1] === '<' ? Number(tokens[2]) : null,
    sentTokens: tokens?.[3] === '' && tokens[4] !== undefined ? Number(tokens[4]) : null,
    pressure: Number.isNaN(pressure) ? null : pressure,
    windowTokens: Number.isNaN(window) ? null : window,
    summary: header('x-foldgate-summary'),
  }
}
