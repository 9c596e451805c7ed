import type { PassName } from '../compaction/passes/passes.ts'
import type { MessageTreatment, PassRange } from '../compaction/outline.ts'
import type { CacheMiss, RemovedThoughts, ThoughtRefusal, Usage } from '../formats/answer-contract.ts'
import type { EntryName, Repairs } from '../formats/contract.ts'
import type { AnswerClass } from '../overflow/classification.ts'
import type { SummaryResult } from '../summaries/summary-order.ts'
import type { UncompactedPath } from '../upstream/target.ts'
import type { Action, BegunRow } from './journal/rows.ts'
import { ClientGoneError, FoldgateError, httpStatusOf } from '../errors.ts'
import type { Failures } from './failures.ts'

/** Whose doing it is if thoughts stand behind another prefix than the one that they were thought on. */
export type PrefixCause = 'foldgate' | 'client'

/**
 * One generation request in figures and names, made once its answer is settled on or will never be. Headers, metrics,
 * journal, conversations and traces are all made of it. It holds nothing that a conversation says, and may be kept.
 * Counts are Foldgate's own, in its own tokens.
 */
export type RequestReport = {
  /** As the journal keeps it, but for what only the end of the answer tells. */
  readonly row: BegunRow
  /** When its body had arrived, as `performance.now()` told. */
  readonly arrivedMs: number
  /** The client's own `traceparent`; null if it sent none. */
  readonly traceparent: string | null
  /** What a refusal of the upstream was taken for; null if there was none, or it was not looked into. */
  readonly refusal: AnswerClass | null
  /** Whether it met a full pool and was sent again after a moment; false if it was tightened after that. */
  readonly hasWaited: boolean
  /** What the upstream refused of its thoughts before another form was accepted; null if nothing. */
  readonly refusedThoughts: ThoughtRefusal | null
  /** The larger model that it went to when no form of it was short enough; null if it went to none. */
  readonly fallback: Fallback | null
  /** Whether only an upper bound is known of what was sent. `row.tokens_are_bounds` says the same of what came. */
  readonly isSentBound: boolean
  /** Messages so long that only a part of each was read to count them; 0 if nothing was counted. */
  readonly sampledMessages: number
  /** The provider's tokens for one of ours, as far as is known; 1 if nothing is. */
  readonly ratio: number
  /**
   * How much of the whole conversation the request point before this one had sent, in tokens: what a provider's cache
   * would have held of it, had nothing been compacted.
   */
  readonly repeatedTokens: number
  /** What users and the operator asked to be kept word for word and no room was left for, in tokens. */
  readonly keptLeftOut: number
  /** Results that came with this request and were sent with the earlier text that they only refer to. */
  readonly resolved: number
  /** The compactions that were made for it, in their order: one that was due, one after a refusal. */
  readonly compactions: readonly CompactionReport[]
  /** What was repaired in the conversation; null if it is the client's own. */
  readonly repairs: Repairs | null
  /** Whose doing it is if the upstream leaves out thoughts since their prefix is another. */
  readonly prefixCause: PrefixCause
  /** Why a summary that was wanted is not there; null if none was, or it is. */
  readonly missingSummary: string | null
}

/** What is told of a request beside its row if nothing is known of it. */
export const nothingTold = {
  refusal: null,
  hasWaited: false,
  refusedThoughts: null,
  fallback: null,
  isSentBound: false,
  sampledMessages: 0,
  ratio: 1,
  repeatedTokens: 0,
  keptLeftOut: 0,
  resolved: 0,
  compactions: [],
  repairs: null,
  prefixCause: 'client',
  missingSummary: null,
} as const satisfies Partial<RequestReport>

/** What became of a request at a larger model. */
export type Fallback = {
  readonly model: string
  readonly upstream: string
  /** Whether the client got its answer. */
  readonly hasAnswered: boolean
  /** The status that it was refused with; null if it was not, or there was no answer. */
  readonly refusedWith: number | null
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
  /** The names of the summaries that it took; empty if there are none. */
  readonly summaries: readonly string[]
  /** What became of the messages, in numbers. */
  readonly treated: Treated
  readonly milliseconds: number
}

/** How many messages were sent in which form, how many are folded, and the tokens of what stands for those. */
export type Treated = Readonly<
  Partial<
    Record<
      | Exclude<MessageTreatment['treatment'], 'kept' | 'summary' | 'recap'>
      | 'summary_tokens'
      | 'recap_tokens'
      | 'newest_kept',
      number
    >
  >
>

/** What became of the messages of a request, in numbers. */
export function treatedMessages(messages: readonly MessageTreatment[]): Treated {
  const counts: Record<string, number> = {}
  const add = (name: string, count: number): void => {
    counts[name] = (counts[name] ?? 0) + count
  }
  for (const { treatment, sentTokens } of messages) {
    if (treatment === 'summary' || treatment === 'recap') add(`${treatment}_tokens`, sentTokens ?? 0)
    else if (treatment !== 'kept') add(treatment, 1)
  }
  const lastChanged = messages.findLastIndex(({ treatment }) => treatment !== 'kept')
  return { ...counts, newest_kept: messages.length - 1 - lastChanged }
}

/** What became of each message of a request, told when it is asked for. Keeping it keeps no message that came. */
export type HeldOutline = {
  readonly read: () => readonly MessageTreatment[]
  /** What each is called in the API that the request came by. */
  readonly entryName: EntryName
  /** How long the client's messages are, in bytes. */
  readonly byteSizes: () => readonly number[]
  /** What stands around the messages. */
  readonly around: { readonly tools: PartSize; readonly system: PartSize }
  /** What it keeps in memory, about: figures of the messages, and what was made to be sent in their place. */
  readonly bytes: number
}

/** How large a part of a request is that is no message: tokens by Foldgate's own count, null if they were not counted. */
export type PartSize = { readonly tokens: number | null; readonly bytes: number }

/** The messages of a request. Keeping it keeps the request's body in memory. */
export type HeldMessages = {
  readonly outline: HeldOutline
  readonly texts: () => readonly HeldText[]
  /** What the conversation begins with. */
  readonly opening: () => Opening
  /** What it keeps in memory, about. */
  readonly bytes: number
}

/** What a message of the outline says, as it came and as it was sent; null if there is no such message. */
export type HeldText = {
  /** Its JSON. */
  readonly received: string | null
  readonly sent: string | null
  /** Its texts; '' if it says nothing that is text. */
  readonly receivedText: string | null
  readonly sentText: string | null
  /** What it calls, as it came. */
  readonly calls: readonly { readonly name: string; readonly argumentsText: string }[]
}

/** By what a person knows a conversation again, as far as the client tells. */
export type Opening = {
  /** The first words of the task. */
  readonly words: string | null
  /** The folder that the client works in. */
  readonly folder: string | null
}

/** How a request ended. */
export type RequestEnd = {
  readonly outcome: 'finished' | 'client-gone' | 'broken-off'
  /** The provider's own counts; null if it stated none. */
  readonly usage: Omit<Usage, 'isSum'> | null
  /** The model that says it has answered; null if none does. */
  readonly answeredBy: string | null
  /** Thoughts that the upstream left out of the prompt; null if it does not say. */
  readonly removedThoughts: RemovedThoughts | null
  /** Why less than hoped was in the provider's prompt cache; null if it does not say. */
  readonly cacheMiss: CacheMiss | null
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
  removedThoughts: null,
  cacheMiss: null,
  recalls: 0,
  continuations: 0,
} as const satisfies Partial<RequestEnd>

/** How many thoughts the upstream left out of the prompt on account of what Foldgate sent. */
export function removedByFoldgate(
  { prefixCause }: Pick<RequestReport, 'prefixCause'>,
  { removedThoughts }: Pick<RequestEnd, 'removedThoughts'>,
): number {
  return prefixCause === 'foldgate' ? (removedThoughts?.prefix ?? 0) : 0
}

/** For what and how long a summary was asked. */
export type SummaryCall = {
  /** The conversation's id. */
  readonly conversation: string
  /** What the summary is called in the journal. */
  readonly name: string
  /** The model's name; '' if it is not known. */
  readonly model: string
  /** The upstream's name; null if it is not known. */
  readonly upstream: string | null
  readonly milliseconds: number
  /** When it was there, in milliseconds of the clock. */
  readonly endedAtMs: number
}

/** What a relayed request asked for: an API that carries conversations, or something else. */
export type Endpoint = UncompactedPath | 'other'

/** Who is told: the metrics, the journal with the conversations, the traces. Each of what it has a function for. */
export type Listener = {
  /** An answer is settled on, or will never be. `messages` must not be kept without a bound. */
  readonly begun?: (report: RequestReport, messages: HeldMessages | null) => void
  /** The answer has ended. */
  readonly ended?: (report: RequestReport, end: RequestEnd) => void
  /** A request that is no generation request, or of an API that is not compacted, once it is known what became of it. */
  readonly relayed?: (
    endpoint: Endpoint,
    action: Extract<Action, 'relayed' | 'refused' | 'left'>,
    client: string | null,
  ) => void
  /** A request was refused before it got to a handler. */
  readonly turnedAway?: (error: FoldgateError) => void
  /** A summary was written, or failed. */
  readonly summary?: (call: SummaryCall, written: SummaryResult) => void
}

export type Reports = ReturnType<typeof createReports>

/** Tells all listeners. Nothing that goes wrong with one harms a request or keeps it from the others (P2). */
export function createReports(listeners: readonly Listener[], { attempt }: Pick<Failures, 'attempt'>) {
  function tell(told: (listener: Listener) => void): void {
    for (const listener of listeners) attempt('observation', undefined, told, listener)
  }
  return {
    begin: (report: RequestReport, messages: HeldMessages | null): void =>
      tell(({ begun }) => begun?.(report, messages)),
    end: (report: RequestReport, told: Omit<RequestEnd, 'totalMs'>): void => {
      const whole = { ...told, totalMs: performance.now() - report.arrivedMs }
      tell(({ ended }) => ended?.(report, whole))
    },
    relayed: (...told: Parameters<NonNullable<Listener['relayed']>>): void =>
      tell(({ relayed }) => relayed?.(...told)),
    turnedAway: (error: FoldgateError): void => tell(({ turnedAway }) => turnedAway?.(error)),
    summary: (call: SummaryCall, written: SummaryResult): void =>
      tell(({ summary }) => summary?.(call, written)),
  }
}

/** Tells of a request that ended in an error of Foldgate's own, or whose client left before there was an answer. */
export function reportUnanswered(
  known: RequestReport,
  messages: HeldMessages | null,
  error: unknown,
  reports: Pick<Reports, 'begin' | 'end'>,
): void {
  const isGone = error instanceof ClientGoneError
  const code = error instanceof FoldgateError ? error.code : 'internal_error'
  const what = isGone
    ? ({ action: 'left', reason: null, status: null } as const)
    : ({ action: 'refused', reason: code, status: httpStatusOf[code] } as const)
  const report = { ...known, row: { ...known.row, ...what } }
  reports.begin(report, messages)
  reports.end(report, { outcome: isGone ? 'client-gone' : 'finished', ...unreadAnswer })
}
