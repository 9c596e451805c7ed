import { z } from 'zod'
import type { Anchor } from './prompt.ts'

/** More than anything here grows to; whatever says more is damaged. */
const size = z.number().min(0).max(1_000_000_000)

/** What conversations grew by, in the provider's tokens and in ours; the newest weighs most. */
export const seenRatioSchema = z
  .object({
    /** In which our tokens are: a ratio is one of this encoding. */
    encoding: z.string().max(32),
    promptTokens: size,
    ownTokens: size,
    /** What is left of the starting ratio's weight. */
    startingTokens: size,
  })
  .readonly()
  // The ratio is a share of the two sums.
  .refine(({ ownTokens, startingTokens }) => ownTokens + startingTokens > 0)

export type SeenRatio = z.output<typeof seenRatioSchema>

/** The provider's tokens for one of ours; null: nothing was seen yet. */
export function ratioFrom(seen: SeenRatio | null, startingRatio: number): number {
  const { promptTokens, ownTokens, startingTokens } = seen ?? nothingSeen
  return bounded((promptTokens + startingRatio * startingTokens) / (ownTokens + startingTokens))
}

/** The same from what was seen alone, without the starting ratio; null before anything was. */
export function seenRatio({ promptTokens, ownTokens }: SeenRatio): number | null {
  return ownTokens === 0 ? null : bounded(promptTokens / ownTokens)
}

/** The ratio with one more prompt, seen against what it grew from; null: nothing that was counted before. */
export function grownBy(
  seen: SeenRatio | null,
  encoding: string,
  prompt: Anchor,
  since: Anchor | null,
): SeenRatio {
  const before = seen ?? { encoding, ...nothingSeen }
  // What media cost, and whether thoughts are counted, is no matter of the ratio.
  if (prompt.looseTokens !== (since?.looseTokens ?? 0)) return before
  const grownTokens = prompt.ownTokens - (since?.ownTokens ?? 0)
  const ratio = (prompt.promptTokens - (since?.promptTokens ?? 0)) / grownTokens
  if (grownTokens <= 0 || ratio < ratioMin || ratio > ratioMax) return before
  const weighed = since === null ? Math.min(grownTokens, unanchoredTokensMax) : grownTokens
  // A large prompt tells enough to let go of the guess; the first growth then outweighs it.
  const said = since === null && grownTokens >= unanchoredTokensMin ? before.startingTokens : weighed
  const kept = 0.5 ** (weighed / halfLifeTokens)
  return {
    encoding,
    promptTokens: before.promptTokens * kept + weighed * ratio,
    ownTokens: before.ownTokens * kept + weighed,
    startingTokens: Math.max(0, before.startingTokens - said),
  }
}

// --- internal ---

/** The starting ratio weighs at first as much as so many of our tokens; once that many were counted it says nothing more. */
const nothingSeen = { promptTokens: 0, ownTokens: 0, startingTokens: 2000 }

/** A sample weighs half once so many of our tokens were counted after it: texts differ, and the newest are most alike. */
const halfLifeTokens = 16_000

/** A small prompt without an anchor says little of the ratio: it may hold what only the provider sees. */
const unanchoredTokensMin = 4000
const unanchoredTokensMax = 500

/** No tokenizer takes more than three times as many tokens as ours, nor half as many: whatever says so is no count. */
const ratioMax = 3
const ratioMin = 0.5

function bounded(ratio: number): number {
  return Math.min(ratioMax, Math.max(ratioMin, ratio))
}
