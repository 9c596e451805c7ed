import type { SummaryCall } from '../../support/summary-model.ts'

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
