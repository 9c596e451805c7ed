import { z } from 'zod'
import type { Anchor } from './prompt.ts'

/** No prompt has more; whatever says so is damaged. */
const size = z.number().min(0).max(1_000_000_000)

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

export type Surroundings = z.output<typeof surroundingsSchema>

export type Overhead = { readonly tokens: number; readonly doubtTokens: number }

/** With one more prompt that the provider counted. */
export function withSample(known: Surroundings | null, encoding: string, prompt: Anchor): Surroundings {
  const samples = known?.samples ?? []
  // What a provider makes of thoughts and pictures is another matter.
  if (prompt.looseTokens > 0) return { encoding, samples }
  const { aroundTokens, ownTokens, promptTokens } = prompt
  const isSame = (each: readonly Sample[]): boolean => each[0]?.aroundTokens === aroundTokens
  const before = samples.find(isSame) ?? []
  const others = samples.filter((each) => !isSame(each)).slice(1 - surroundingsMax)
  return { encoding, samples: [...others, kept(before, { aroundTokens, ownTokens, promptTokens })] }
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

type Sample = z.output<typeof sample>

/** A prompt up to this many times the smallest says of the overhead what that one says. */
const smallFactorMax = 1.2

/** Up to this share our count of texts may be off without anything hidden beside them. */
const textErrorShare = 0.1

/** Surroundings that differ by no more than this are the same with other details. */
const nearShare = 0.1
const nearTokens = 256

/** The smallest prompt says most, however old; of those about as small the newest are true of today. */
function kept(known: readonly Sample[], one: Sample): Sample[] {
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
