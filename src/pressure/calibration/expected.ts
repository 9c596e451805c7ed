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

/** How a prompt that grew from an anchor differs from our count of it, in our tokens. */
export type Excess = {
  /** What the provider counted of its beginning beyond our count; below zero where it counted less. */
  readonly differenceTokens: number
  /** By how much the rest, which it has not counted, may be denser than the ratio says. */
  readonly marginTokens: number
}

/** Nothing is known of the prompt but our own count. */
export const noExcess: Excess = { differenceTokens: 0, marginTokens: 0 }

/** `besideTokens`: what is already reckoned with beside our count, in our tokens. */
export function excessOf(ownTokens: number, { ratio }: Rate, anchor: Anchor, besideTokens: number): Excess {
  const uncounted = Math.max(0, ownTokens - anchor.ownTokens)
  return {
    differenceTokens: Math.ceil(anchor.promptTokens / ratio - anchor.ownTokens - besideTokens),
    marginTokens: Math.ceil(uncounted * uncountedMargin),
  }
}

// --- internal ---

/**
 * Of 2,300 recorded requests the densest growth took 15 % more than the ratio said (`npm run calibration`): with this margin
 * each one that was believed to fill 95 % of the window was inside it.
 */
const uncountedMargin = 0.15
