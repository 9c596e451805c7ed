import type { CountSteps, CountTokens } from '../compaction/subject.ts'
import type { Digest, Steps } from '../conversation/source.ts'
import type { SummarySettings } from './prompt.ts'
import type { LimitName } from './request.ts'
import type { Entry } from './transcript.ts'

/** What came back: the whole body, whatever its status. */
export type AskAnswer = {
  readonly status: number
  readonly contentType: string
  readonly body: string
}

export type AskRequest = {
  readonly body: string
  /** Charges for sending again what was broken off half-way; false where that may not be paid. */
  readonly payAgain: () => boolean
}

/**
 * Sends one request. It may reject with a FoldgateError (`upstream_…`), with the signal's reason, or with a
 * GaveWayError where it may not be sent again.
 */
export type Ask = (request: AskRequest, signal: AbortSignal) => Promise<AskAnswer>

/** A summary that is to be written. */
export type Order = {
  /** The summary so far, without tags; null where there is none. */
  readonly previous: string | null
  readonly entries: readonly Entry[]
  /** What the summary replaces in the view: a longer one is refused, and one that saves too little of it. */
  readonly replacedTokens: number
  readonly settings: SummarySettings
  /** Null: the field is left out. */
  readonly model: string | null
  /** As the client's requests spell it. */
  readonly limitName: LimitName
  /** The window of the summary model, in its own tokens; null where it is not known. */
  readonly windowTokens: number | null
  /** Prompt tokens that may be sent, by our count, all calls together, refused ones included. */
  readonly spendableTokens: number
  /** A way to ask at the end of the conversation itself, with `own` fields, while its cache is warm; null: by transcript. */
  readonly warm: {
    readonly body: (instruction: string, own: Readonly<Record<string, unknown>>) => string
    /** What the provider reads then, by our count. */
    readonly promptTokens: number
  } | null
  /** Under what the parameters that are rejected are remembered: upstream and model. */
  readonly parametersKey: string
  readonly count: CountTokens
  readonly countSteps: CountSteps
  /** Runs paused work to its end, letting other work in between. */
  readonly run: <Result>(steps: Steps<Result>) => Promise<Result>
  readonly digest: Digest
}

/** What an order cost, by the provider's count where it states one. */
export type Spent = {
  readonly calls: number
  readonly promptTokens: number
  readonly completionTokens: number
  readonly cachedTokens: number
  /** Prompt tokens by our count, of every request: errors state none, and were sent all the same. */
  readonly sentTokens: number
  /** A window that an overflow answer stated, in the model's tokens, for the orders to come. */
  readonly learntWindowTokens: number | null
}
