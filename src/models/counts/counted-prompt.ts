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

/** A prompt that both have counted: what a longer one is reckoned from. */
export type Anchor = CountedPrompt & Pick<AnsweredPrompt, 'answeredBy'> & { readonly promptTokens: number }

/** A prompt that was sent, as far as it is compared with what the provider says of it. Holds nothing of its content. */
export type SentPrompt = {
  /** Under which a longer prompt finds it again. */
  readonly prompt: string
  /** In which it was counted. */
  readonly encoding: string
  /** What request points before this one had sent, the longest first. */
  readonly beginnings: readonly SentBeginning[]
  /** The bytes that were sent, without what media took of them. */
  readonly textBytes: number
  /** Null where it was not counted. */
  readonly counted: SentCount | null
}

export type SentCount = CountedPrompt & {
  /** Tools and schemas. */
  readonly toolsTokens: number
  /** The messages behind the system block, in their order. */
  readonly messageTokens: readonly number[]
  /** The provider's tokens for one of ours: as far as is known, and at the least. */
  readonly ratio: number
  readonly ratioMin: number
  /** What of it both have counted before; null where nothing. */
  readonly anchor: Anchor | null
}

export type SentBeginning = {
  readonly prompt: string
  /** The tokens of the messages behind this beginning, and of the beginning itself, in our tokens; null if nothing was counted. */
  readonly counted: {
    /** Text alone, without media and thoughts. */
    readonly addedTextTokens: number
    /** Media and thoughts in the messages before it. */
    readonly looseTokens: number
  } | null
}

/** How a provider's count follows from ours. */
export type Rate = {
  /** The provider's tokens for one of ours. */
  readonly ratio: number
  /** What the provider counts with every prompt beyond that, in its tokens; below zero where we count too much. */
  readonly overheadTokens: number
  /** By how much the overhead may be off: what texts explain of the smallest prompt counted; infinite before any was. */
  readonly overheadDoubtTokens: number
}

/** The provider's count of a prompt, from an anchor that it grew from where there is one. */
export function expectedTokens(ownTokens: number, rate: Rate, anchor: Anchor | null): number {
  const tokens =
    anchor === null
      ? rate.overheadTokens + ownTokens * rate.ratio
      : anchor.promptTokens + (ownTokens - anchor.ownTokens) * rate.ratio
  return Math.max(0, Math.ceil(tokens))
}

/**
 * By how much the provider counted the beginning of a prompt differently from us, in our tokens; below zero where it counted
 * less. `besideTokens`: what is already reckoned with beside our count, in our tokens.
 */
export function differenceTokens({ ratio }: Rate, anchor: Anchor, besideTokens: number): number {
  return Math.ceil(anchor.promptTokens / ratio - anchor.ownTokens - besideTokens)
}

/**
 * How much more than by the ratio may come on top of an anchor, in our tokens, if so many have come since. A ratio below one may
 * be that of tools which we count too high, and no text's: by it a round of 1,310 tokens was taken for 1,250, and the prompt
 * refused. What stands compacted is compacted that much earlier.
 */
export function growthDoubtTokens({ ratio }: Rate, grownTokens: number): number {
  return Math.ceil(Math.max(0, grownTokens) * Math.max(0, 1 / ratio - 1))
}
