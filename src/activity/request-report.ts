import type { MessageTreatment, PassRange } from '../compaction/report.ts'
import type { PassName } from '../compaction/policy.ts'
import type { AnswerClass } from '../overflow/classification.ts'
import type { UncompactedPath } from '../upstream/target.ts'

/**
 * What Foldgate did with a request: as `x-foldgate-action` says it, or `refused` with an error of its own, or `left` by
 * the client before there was an answer.
 */
export type Action =
  | 'relayed'
  | 'compacted'
  | 'recovered'
  | 'restored'
  | 'bypassed'
  | 'failed-open'
  | 'refused'
  | 'left'

/**
 * One chat completion in figures and names: what came, what was sent, what became of it. It holds nothing that a
 * conversation says but through `held`. Counts are Foldgate's own unless said otherwise.
 */
export type RequestReport = {
  /** When its body had arrived, by the clock. */
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
  /** The model that was asked for; '' where the request names none or was not read. */
  readonly model: string
  /** The upstream's name. */
  readonly upstream: string
  /** The client's own `traceparent`; null where it sent none. */
  readonly traceparent: string | null
  readonly action: Action
  /** What the action's reason says; null where there is none. */
  readonly reason: string | null
  readonly isStreamed: boolean
  /** The status that the client gets; null where it left before. */
  readonly status: number | null
  /** What a refusal of the upstream's was taken for; null where there was none, or it was not looked into. */
  readonly refusal: AnswerClass | null
  /** Upstream requests made. */
  readonly attempts: number
  /** Whether it met a full pool and was sent again after a moment; false where it was tightened after that. */
  readonly hasWaited: boolean
  /** Null where measuring failed or nothing was read. */
  readonly size: RequestSize | null
  /** The passes whose outcome stands in what was sent. */
  readonly passes: readonly PassName[]
  readonly summary: 'none' | 'ready' | 'pending' | 'recap'
  /** Whether it would have been refused as it came; null where that is not known. */
  readonly isBeyondWindow: boolean | null
  /** What would have been done under a profile that only observes; null under any other. */
  readonly observed: Observed | null
  /** The compactions that were made for it, in their order: one that was due, one after a refusal. */
  readonly compactions: readonly CompactionReport[]
  /** Null where nothing was read. */
  readonly held: HeldMessages | null
  /** From the body's arrival until the first upstream request, in milliseconds. */
  readonly addedMs: number
  /** From the last upstream request until the headers of its answer, in milliseconds; null where there were none. */
  readonly firstByteMs: number | null
}

export type Observed = { readonly passes: readonly PassName[]; readonly sentTokens: number }

/** How large a request was. */
export type RequestSize = {
  /** The conversation with everything around it. */
  readonly receivedTokens: number
  readonly sentTokens: number
  /** Whether counting was not needed, and the count is an upper bound: of what came, of what was sent. */
  readonly isBound: boolean
  readonly isSentBound: boolean
  readonly receivedMessages: number
  /** Of these, those so long that a part of each was only sampled to be counted; 0 where nothing was counted. */
  readonly sampledMessages: number
  readonly sentMessages: number
  /** The incoming conversation divided by the budget, and what was sent divided by it. */
  readonly pressure: number
  readonly sentPressure: number
  readonly windowTokens: number
  readonly windowSource: string
  /** The window of the profile, where a refusal has shown that it is too large; null otherwise. */
  readonly overruledTokens: number | null
  readonly budgetTokens: number
  /** The provider's tokens for one of ours, as far as is known. */
  readonly ratio: number
  /**
   * How much of the whole conversation the request point before this one had sent: what a provider's cache would have
   * held of it, had nothing been compacted.
   */
  readonly repeatedTokens: number
}

/** A compaction that was made; tokens are Foldgate's own count of the whole prompt. */
export type CompactionReport = {
  readonly reason: string
  readonly point: number
  readonly passes: readonly PassName[]
  readonly ranges: readonly PassRange[]
  /** Whether it lies in the past of a conversation that is seen for the first time: then it was derived, and others before it. */
  readonly isDerived: boolean
  /** What would have been sent at its point without it. */
  readonly tokensBefore: number
  readonly tokensAfter: number
  /** The names of the summaries that it took; empty where there are none. */
  readonly summaries: readonly string[]
  readonly milliseconds: number
}

/** What became of each message of a request, told when it is asked for. What it keeps in memory holds no message that came. */
export type HeldOutline = {
  readonly read: () => readonly MessageTreatment[]
  /** What it keeps in memory, about: figures of the messages, and what was made to be sent in their place. */
  readonly bytes: number
}

/** The messages of a request, as long as somebody holds this: it keeps the request's body in memory. */
export type HeldMessages = {
  readonly outline: HeldOutline
  /** The JSON of each message of the outline as it came and as it was sent; null where there is none. */
  readonly texts: () => readonly { readonly received: string | null; readonly sent: string | null }[]
  /** What it keeps in memory, about. */
  readonly bytes: number
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
  /** The model that says it has answered; null where none does. */
  readonly answeredBy: string | null
  /** How often the model read back what was folded, and how often it went on with a reply that was cut. */
  readonly recalls: number
  readonly continuations: number
  /** From the body's arrival until the end of the answer, in milliseconds. */
  readonly totalMs: number
}

/** What is known of an answer that nobody read. */
export const unreadAnswer = {
  usage: null,
  answeredBy: null,
  recalls: 0,
  continuations: 0,
} as const satisfies Partial<RequestEnd>

/** Whoever wants to know of requests. */
export type Reports = {
  /**
   * Called when an answer is settled on, or will never be; the returned function when it has ended. The report must not
   * be kept beyond the call but for its figures: it keeps the request's body in memory.
   */
  readonly begin: (report: RequestReport) => (end: RequestEnd) => void
  /** Called for every other request, once it is known what became of it. */
  readonly relayed: (endpoint: Endpoint, action: Extract<Action, 'relayed' | 'refused' | 'left'>) => void
}

/** What a relayed request asked for: an API that carries conversations, or something else. */
export type Endpoint = UncompactedPath | 'other'
