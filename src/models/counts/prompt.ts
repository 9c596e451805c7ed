/** A prompt as we counted it, in our tokens. */
export type CountedPrompt = {
  readonly ownTokens: number
  /** What of it surrounds the messages that may be compacted: system block, tools, schemas. */
  readonly aroundTokens: number
  /** What of it are media and thoughts that are sent back: what a provider may count otherwise, or not at all. */
  readonly looseTokens: number
  /** Of the whole conversation that the prompt stands for, folded messages included: tells whether it is the same. */
  readonly conversationTokens: number
}

/** A prompt that was answered. */
export type AnsweredPrompt = {
  /** Its bytes without those of media. */
  readonly textBytes: number
  /** Null where we did not count it. */
  readonly counted: CountedPrompt | null
  /** What the provider counted; null where it said nothing of use. */
  readonly promptTokens: number | null
  /** The model that the provider says has answered; null where it says none. */
  readonly answeredBy: string | null
}

/** A prompt that both have counted. */
export type Anchor = CountedPrompt & Pick<AnsweredPrompt, 'answeredBy'> & { readonly promptTokens: number }
