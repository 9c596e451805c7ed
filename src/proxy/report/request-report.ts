import type { MessageTreatment, PassRange } from '../../compaction/report.ts'
import type { PassName } from '../../compaction/policy.ts'

/** What Foldgate says it did with a request, as `x-foldgate-action` has it. */
export type Action = 'relayed' | 'compacted' | 'recovered' | 'restored' | 'bypassed' | 'failed-open'

/**
 * One chat completion in figures and names: what came, what was sent, what the provider counted. It holds nothing that a
 * conversation says. Counts are Foldgate's own unless said otherwise.
 */
export type RequestReport = {
  /** Tells it from all others of this process. */
  readonly number: number
  /** When its body had arrived, as the clock of `nowMs` told. */
  readonly startedAtMs: number
  /** Null where the body was not read. */
  readonly conversation: string | null
  /** The conversation that it branched off; null where it did not. */
  readonly parent: string | null
  /** The client's own word for it (`x-foldgate-conversation`); null where there is none. */
  readonly label: string | null
  /** The client key that was used; null where Foldgate has none. */
  readonly clientKey: string | null
  readonly profile: string | null
  /** The model that was asked for; '' where the request names none. */
  readonly model: string
  /** The upstream's name. */
  readonly upstream: string
  readonly action: Action
  /** What the action's reason says; null where there is none. */
  readonly reason: string | null
  readonly isStreamed: boolean
  /** The status that the client gets; null where there was no answer. */
  readonly status: number | null
  /** Upstream requests made. */
  readonly attempts: number
  /** Null where measuring failed or nothing was read. */
  readonly size: RequestSize | null
  /** The passes whose outcome stands in what was sent. */
  readonly passes: readonly PassName[]
  readonly summary: 'none' | 'ready' | 'pending' | 'recap'
  /** Whether it would have been refused as it came; null where that is not known. */
  readonly isBeyondWindow: boolean | null
  /** What a profile that only observes would have done; null where it does not. */
  readonly observed: { readonly passes: readonly PassName[]; readonly sentTokens: number } | null
  /** The stride that was made for it; null where none was. */
  readonly stride: StrideReport | null
  /** Each message and what became of it, for the page. Built when it is asked for. */
  readonly outline: (() => readonly MessageTreatment[]) | null
  /** From the body's arrival until the first upstream request, in milliseconds. */
  readonly addedMs: number
  /** From the last upstream request until the headers of its answer, in milliseconds. */
  readonly firstByteMs: number | null
}

export type RequestSize = {
  /** The conversation with everything around it; an upper bound where `isBound`. */
  readonly receivedTokens: number
  readonly sentTokens: number
  /** Whether counting was not needed, and both are upper bounds. */
  readonly isBound: boolean
  readonly receivedMessages: number
  readonly sentMessages: number
  /** The incoming conversation divided by the budget. */
  readonly pressure: number
  /** What was sent divided by the budget. */
  readonly sentPressure: number
  readonly windowTokens: number
  readonly windowSource: string
  readonly budgetTokens: number
  /** The provider's tokens for one of ours, as far as is known. */
  readonly ratio: number
  /**
   * How much of the whole conversation had been sent before, by the request point before this one: what a provider's
   * cache would have held of it, had nothing been compacted.
   */
  readonly repeatedTokens: number
}

/** A compaction that was made. */
export type StrideReport = {
  readonly reason: string
  readonly point: number
  readonly passes: readonly PassName[]
  readonly ranges: readonly PassRange[]
  readonly tokensBefore: number
  readonly tokensAfter: number
  /** What the summaries that it took are found under; empty where there are none. */
  readonly summaryKeys: readonly string[]
  readonly milliseconds: number
}

/** How a request ended. */
export type RequestEnd = {
  readonly outcome: 'finished' | 'client-gone' | 'broken-off'
  /** The provider's own counts; null where it stated none. */
  readonly usage: {
    readonly promptTokens: number
    readonly cachedTokens: number | null
    readonly completionTokens: number | null
  } | null
  /** The model that says it has answered. */
  readonly answeredBy: string | null
  /** From the body's arrival until the end of the answer, in milliseconds. */
  readonly totalMs: number
}
