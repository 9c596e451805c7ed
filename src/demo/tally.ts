import type { ChatAnswer } from './chat-client.ts'
import { readTreatment, type Treatment } from './foldgate-headers.ts'

/** What one answered request says about tokens. */
export type RequestFigures = {
  readonly treatment: Treatment
  readonly conversationTokens: number
  readonly sentTokens: number
  readonly cachedTokens: number
  /** Less was sent than for the request before: the conversation was compacted further. */
  readonly isCompaction: boolean
}

/** The sums of a run. */
export type Tally = {
  requests: number
  failed: number
  factsKept: number
  compactions: number
  recovered: number
  conversationTokens: number
  sentTokens: number
  cachedTokens: number
  largestConversationTokens: number
  largestSentTokens: number
  lastSentTokens: number
}

export function openTally(): Tally {
  return {
    requests: 0,
    failed: 0,
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

/** Adds a request to the sums; one without an answer has failed. `isFactKept` is null where none was asked for. */
export function addRequest(
  tally: Tally,
  answer: ChatAnswer | null,
  isFactKept: boolean | null,
): RequestFigures | null {
  tally.requests += 1
  if (isFactKept === true) tally.factsKept += 1
  if (answer === null) {
    tally.failed += 1
    return null
  }
  const treatment = readTreatment(answer.header)
  // The server's own count of what reached it comes first; what was not counted was sent as it came in.
  const sentTokens =
    answer.usage?.promptTokens ?? treatment.sentTokens ?? treatment.conversationTokensBelow ?? 0
  const conversationTokens = treatment.conversationTokens ?? sentTokens
  const cachedTokens = answer.usage?.cachedTokens ?? 0
  const isCompaction = sentTokens < tally.lastSentTokens && conversationTokens > sentTokens
  if (isCompaction) tally.compactions += 1
  if (treatment.action === 'recovered') tally.recovered += 1
  tally.conversationTokens += conversationTokens
  tally.sentTokens += sentTokens
  tally.cachedTokens += cachedTokens
  tally.largestConversationTokens = Math.max(tally.largestConversationTokens, conversationTokens)
  tally.largestSentTokens = Math.max(tally.largestSentTokens, sentTokens)
  tally.lastSentTokens = sentTokens
  return { treatment, conversationTokens, sentTokens, cachedTokens, isCompaction }
}

/** Tokens with the cached ones at a tenth, about what they cost at most providers. */
export function weightedTokens(tally: Tally): number {
  return Math.round(tally.sentTokens - tally.cachedTokens * 0.9)
}
