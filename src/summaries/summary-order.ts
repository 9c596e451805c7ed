import type { History } from '../compaction/history/history.ts'
import type { JsonObject } from '../json/json-value.ts'
import type { Dialect } from '../formats/contract.ts'
import type { Material, SummarySettings } from './prompt.ts'
import type { SummaryRecord } from './summary-record.ts'

/** A summary that is to be written. Token counts are ours unless said otherwise. */
export type SummaryOrder = Material & {
  /** What the summary replaces in the view: a longer one is refused, and one that saves too little of it. */
  readonly replacedTokens: number
  readonly settings: SummarySettings
  readonly dialect: Dialect
  /** Null: the field is left out. */
  readonly model: string | null
  /** The field in which the client's requests limit the output. */
  readonly limitField: string
  /** By which options the client's requests have their model loaded, if that is the summary model; null if they do not say. */
  readonly modelOptions?: JsonObject | null
  /** The window of the summary model, in its own tokens; null if it is not known. */
  readonly windowTokens: number | null
  /** Prompt tokens that may be sent, all calls together, refused ones included. */
  readonly spendableTokens: number
  /** Null: asked by a transcript of its messages. */
  readonly cachedCall: CachedCall | null
  /** The upstream and the model, under which it is remembered what they reject. */
  readonly rejectionsKey: string
  readonly history: Pick<History, 'count' | 'countSteps' | 'digest'>
}

/**
 * A call whose prompt begins with the same bytes as the request that the upstream has just answered, and ends with an
 * instruction to summarise them: the provider reads most of it from its prompt cache.
 */
export type CachedCall = {
  /** `fields` stand beside the prompt. */
  readonly body: (instruction: string, fields: JsonObject) => string
  /** How long the prompt is, cached or not. */
  readonly promptTokens: number
}

/** What came of an order, and what it took. */
export type SummaryResult = SummaryRecord & Spent

/** What the calls of an order took, by the provider's count where it states one, and what they taught. */
export type Spent = {
  readonly calls: number
  readonly promptTokens: number
  readonly completionTokens: number
  readonly cachedTokens: number
  readonly cacheWrittenTokens: number
  /** Prompt tokens by our count, of every call: errors state none, and were sent all the same. */
  readonly sentTokens: number
  /** A window that an overflow answer stated, in the model's tokens, for the orders to come. */
  readonly learntWindowTokens: number | null
}
