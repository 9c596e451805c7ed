import { z } from 'zod'
import type { Anchor } from './counted-prompt.ts'

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

/** Sets of surroundings remembered for one model and credential, and prompts for each. */
const surroundingsMax = 16
const samplesMax = 4

const sample = z.object({ aroundTokens: size, ownTokens: size, promptTokens: size }).readonly()

/**
 * Prompts that the provider counted, by the count of what surrounded their messages (system block, tools, schemas), those
 * seen last at the end.
 */
export const surroundingsSchema = z
  .object({
    /** In which our tokens are. */
    encoding: z.string().max(32),
    samples: z.array(z.array(sample).min(1).max(samplesMax)).max(surroundingsMax).readonly(),
  })
  .readonly()

type Surroundings = z.output<typeof surroundingsSchema>

type Overhead = { readonly tokens: number; readonly doubtTokens: number }

/** With one more prompt that the provider counted. */
export function withSample(known: Surroundings | null, encoding: string, prompt: Anchor): Surroundings {
  const samples = known?.samples ?? []
  // What a provider makes of thoughts and pictures is another matter.
  if (prompt.looseTokens > 0) return { encoding, samples }
  const { aroundTokens, ownTokens, promptTokens } = prompt
  const isSame = (each: readonly Sample[]): boolean => each[0]?.aroundTokens === aroundTokens
  const before = samples.find(isSame) ?? []
  const others = samples.filter((each) => !isSame(each)).slice(1 - surroundingsMax)
  return { encoding, samples: [...others, samplesWith(before, { aroundTokens, ownTokens, promptTokens })] }
}

/**
 * What the provider counts with every prompt that has such surroundings, beyond our count, and how far that may be off, in
 * the provider's tokens; null for surroundings that nobody has seen. Surroundings are told apart by their own count: a
 * clock or a list of files in the system block changes it a little.
 */
export function overheadIn(known: Surroundings | null, aroundTokens: number, ratio: number): Overhead | null {
  let found: readonly Sample[] | null = null
  let distance = Math.max(nearTokens, aroundTokens * nearShare)
  for (const samples of known?.samples ?? []) {
    const away = Math.abs((samples[0]?.aroundTokens ?? Infinity) - aroundTokens)
    if (away > distance || (away === distance && found !== null)) continue
    found = samples
    distance = away
  }
  if (found === null) return null
  const each = found.map((one) => overheadOf(one, ratio))
  // One odd report (search results that were put in, a picture) is no overhead: the least of a few is.
  return each.reduce((least, one) => (Math.abs(one.tokens) < Math.abs(least.tokens) ? one : least))
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

type Sample = z.output<typeof sample>

/** A prompt up to this many times the smallest says of the overhead what that one says. */
const smallFactorMax = 1.2

/** Up to this share our count of texts may be off without anything hidden beside them. */
const textErrorShare = 0.1

/** Surroundings that differ by no more than this are the same with other details. */
const nearShare = 0.1
const nearTokens = 256

/** The smallest prompt says most, however old; of those about as small the newest are true of today. */
function samplesWith(known: readonly Sample[], one: Sample): Sample[] {
  const all = [...known, one]
  const smallest = all.reduce((least, each) => (each.ownTokens < least.ownTokens ? each : least))
  const others = all.filter(
    (each) => each !== smallest && each.ownTokens <= smallest.ownTokens * smallFactorMax,
  )
  return [smallest, ...others.slice(1 - samplesMax)]
}

/** What remains of the difference once as much as texts may explain is taken off. */
function overheadOf({ ownTokens, promptTokens, aroundTokens }: Sample, ratio: number): Overhead {
  const difference = promptTokens - ownTokens * ratio
  const doubtTokens = (ownTokens - aroundTokens) * ratio * textErrorShare
  const tokens = Math.sign(difference) * Math.max(0, Math.ceil(Math.abs(difference) - doubtTokens))
  return { tokens, doubtTokens }
}
