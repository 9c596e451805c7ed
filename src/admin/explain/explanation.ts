import type { MessageTreatment } from '../../compaction/report.ts'
import type { PassName } from '../../compaction/policy.ts'
import type { EntryName } from '../../formats/contract.ts'
import type { FoundRatio } from '../../tokens/families.ts'

/**
 * What would become of a request, and why. Tokens are Foldgate's own count; what the window and the reserve say is in the
 * provider's. As JSON it has these names.
 */
export type Explanation = {
  readonly profile: { readonly name: string; readonly because: string }
  /** '' where neither the body nor the question names one. */
  readonly model: string
  readonly window: { readonly tokens: number; readonly kind: 'total' | 'input'; readonly source: string }
  /** What of the window is kept for the reply. */
  readonly reserve: number
  /** Whose that is: the request's own output limit, or the profile's `window.output_reserve`. */
  readonly reserve_source: 'request' | 'profile'
  /** The provider's tokens for one of ours, before any answer told. */
  readonly ratio: number
  /** Whose the ratio is: the profile's (`window.ratio`), that of the family which the model's name tells, or a guess. */
  readonly ratio_source: FoundRatio['source']
  /** Window less reserve, by our count. */
  readonly budget: number
  /** What of the budget is held back because nobody knows yet how the provider shows tools to the model. */
  readonly margin: number
  readonly thresholds: Thresholds
  /** The size of the whole prompt beyond which a compaction begins; null where the trigger is off. */
  readonly compaction_begins_at: CompactionStart | null
  /** The incoming prompt divided by the budget. */
  readonly pressure: number
  /** What no compaction takes away: system messages, tools, schemas, task, latest user message. */
  readonly fixed: { readonly tokens: number; readonly share_of_budget: number }
  readonly tokens: { readonly received: TokensByCategory; readonly sent: TokensByCategory }
  /** What the entries of the conversation are called in its API. */
  readonly entry_name: EntryName
  readonly message_counts: { readonly received: CountsByRole; readonly sent: CountsByRole }
  readonly warnings: readonly ExplainWarning[]
  readonly would: {
    readonly action: 'relayed' | 'compacted'
    /** What made the newest compaction necessary; `repair`, `observe`; null where there is nothing to say. */
    readonly reason: string | null
    readonly passes: readonly PassName[]
    readonly sent_tokens: number
  }
  /** Each message of the client and what would become of it, in order; summaries and recaps where they would be sent. */
  readonly messages: readonly ExplainedMessage[]
  /** What would be sent, byte for byte; UTF-8 and JSON. */
  readonly body: Buffer
}

/** The same size, counted in two ways. */
export type CompactionStart = {
  /** By our count, to be compared with `tokens.received.total`. */
  readonly tokens: number
  /** By the model's, as far as the ratio holds, with all that the margin is for. */
  readonly model_tokens: number
}

/** In tokens of the whole prompt, to be compared with `tokens.received.total`. Null: off. */
export type Thresholds = {
  readonly trigger: number | null
  readonly target: number | null
  readonly render_at: number | null
  readonly preview_at: number | null
  readonly clear_at: number | null
  readonly fold_at: number | null
  /** Null too where no model writes summaries. */
  readonly summary_at: number | null
}

export type TokensByCategory = {
  readonly system: number
  /** Tools, functions and the response's schema. */
  readonly tools: number
  readonly user: number
  readonly assistant: number
  readonly tool_results: number
  /** Images, sound and files, whosever message they stand in. */
  readonly images: number
  /** Summaries and recaps: ours, and what came with such tags. */
  readonly summary: number
  /** Messages of roles that are not known, and what primes the reply. */
  readonly other: number
  readonly total: number
}

/** Only roles that occur, and `total`. */
export type CountsByRole = Readonly<Record<string, number>>

export type ExplainWarning = {
  readonly code:
    | 'model_missing'
    | 'window_guessed'
    | 'fixed_large'
    | 'does_not_fit'
    | 'conversation_broken'
    | 'observed'
    | 'recap_stands_in'
    | 'sampled'
  readonly message: string
}

export type ExplainedMessage = {
  readonly index: number | null
  readonly role: string
  readonly kind: string | null
  readonly tool: string | null
  readonly treatment: MessageTreatment['treatment']
  readonly pinned: MessageTreatment['pinned']
  readonly received_tokens: number | null
  readonly sent_tokens: number | null
  readonly stands_for: { readonly start: number; readonly end: number } | null
}

/** An explanation as JSON. Its last value, `body`, is what would be sent, spliced in as it is. */
export function explanationJson({ body, ...told }: Explanation): string {
  return `${JSON.stringify(told).slice(0, -1)},"body":${body.toString('utf8')}}`
}
