import type { Anchor } from './prompt.ts'

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
