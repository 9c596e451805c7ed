import type { WindowKind } from '../tokens/budget.ts'

/** What an answer of the upstream means for a proxy that can make the prompt smaller. */
export type AnswerClass =
  /** Prompt, or prompt and output together, exceed the model's window. */
  | 'overflow'
  /** Only the requested output is beyond what the model or its window allows. */
  | 'output_too_large'
  /** Bytes or a message count; a smaller prompt may help, no window can be learnt. */
  | 'payload_too_large'
  /**
   * Several requests at once have filled the memory that a server shares among them; a moment later the same request may
   * succeed. It says nothing of the model's window.
   */
  | 'crowded'
  /** Rate limits, quotas, credits. Never a reason to compact. */
  | 'rate'
  /** Roles, their order, calls without results, chat templates: what strict placement may cure. */
  | 'order'
  /** Authentication, permission, content policy: another form of the same request changes nothing. */
  | 'denied'
  /** Everything else, success included. */
  | 'other'

export type StatedWindow = { readonly tokens: number; readonly kind: WindowKind }

/** `less-output`: the prompt fits, and the server says that a lower output limit is enough. */
export type Remedy =
  | 'compact'
  | 'clamp'
  | 'clamp-or-compact'
  | 'less-output'
  | 'compact-count'
  | 'compact-bytes'
  | 'none'

/** What an answer states of sizes, in the server's tokens. */
export type StatedSizes = {
  readonly window: StatedWindow | null
  /** Not exact: a lower bound, which must not size anything. */
  readonly promptTokens: { readonly tokens: number; readonly exact: boolean } | null
  /** The output that was asked for (in an error) or produced (in an answer). */
  readonly completionTokens: number | null
  /** Prompt and output together, where the answer states the sum. */
  readonly totalTokens: number | null
}

export const noSizes: StatedSizes = {
  window: null,
  promptTokens: null,
  completionTokens: null,
  totalTokens: null,
}

export type Classification = StatedSizes & {
  readonly class: AnswerClass
  readonly remedy: Remedy
  /** Output came before or with it: the answer is passed on and the overflow only teaches. */
  readonly afterOutput: boolean
}

/** A classification that states no sizes. */
export function plainClassification(answerClass: AnswerClass, remedy: Remedy = 'none'): Classification {
  return { class: answerClass, ...noSizes, remedy, afterOutput: false }
}
