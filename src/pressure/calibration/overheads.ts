import type { Anchor } from './prompt.ts'

/** What the provider counts with every prompt that has the same surroundings (system block, tools, schemas), beyond our count. */
export type Overheads = {
  /** Takes a prompt that the provider counted. */
  readonly take: (prompt: Anchor) => void
  /** The overhead and how far it may be off, in the provider's tokens; null for surroundings that nobody has seen. */
  readonly find: (aroundTokens: number, ratio: number) => Overhead | null
  /** What was taken, as plain JSON. */
  readonly snapshot: () => OverheadsSnapshot
}

/** Surroundings by their own count, those seen last at the end, each with its samples. */
export type OverheadsSnapshot = readonly (readonly [
  aroundTokens: number,
  samples: readonly (readonly [ownTokens: number, promptTokens: number])[],
])[]

export type Overhead = { readonly tokens: number; readonly doubtTokens: number }

/** Surroundings are told apart by their own count: a clock or a list of files in the system block changes it a little. */
export function createOverheads(given: OverheadsSnapshot = []): Overheads {
  const samples = new Map(
    given.map(([aroundTokens, each]): [number, readonly Sample[]] => [
      aroundTokens,
      each.map(([ownTokens, promptTokens]) => ({ aroundTokens, ownTokens, promptTokens })),
    ]),
  )
  return {
    take: ({ aroundTokens, ownTokens, promptTokens, looseTokens }) => {
      // What a provider makes of thoughts and pictures is another matter.
      if (looseTokens > 0) return
      const known = samples.get(aroundTokens) ?? []
      samples.delete(aroundTokens)
      samples.set(aroundTokens, kept(known, { aroundTokens, ownTokens, promptTokens }))
      const [oldest] = samples.keys()
      if (samples.size > surroundingsMax && oldest !== undefined) samples.delete(oldest)
    },
    find: (aroundTokens, ratio) => {
      const nearest = nearestOf([...samples.keys()], aroundTokens)
      const found = nearest === null ? undefined : samples.get(nearest)
      if (found === undefined) return null
      const each = found.map((sample) => overheadOf(sample, ratio))
      // One odd report (search results that were put in, a picture) is no overhead: the least of a few is.
      return each.reduce((least, one) => (Math.abs(one.tokens) < Math.abs(least.tokens) ? one : least))
    },
    snapshot: () =>
      Array.from(samples, ([aroundTokens, each]) => [
        aroundTokens,
        each.map(({ ownTokens, promptTokens }) => [ownTokens, promptTokens]),
      ]),
  }
}

/** The two together; `second` is believed where both have seen the same surroundings. */
export function joinedOverheads(first: OverheadsSnapshot, second: OverheadsSnapshot): OverheadsSnapshot {
  const seen = new Set(second.map(([aroundTokens]) => aroundTokens))
  return [...first.filter(([aroundTokens]) => !seen.has(aroundTokens)), ...second].slice(-surroundingsMax)
}

export function isOverheadsSnapshot(value: unknown): value is OverheadsSnapshot {
  return Array.isArray(value) && value.length <= surroundingsMax && value.every(isSurroundings)
}

// --- internal ---

type Sample = Pick<Anchor, 'ownTokens' | 'promptTokens' | 'aroundTokens'>

/** Sets of surroundings remembered for one model and credential, and prompts for each. */
const surroundingsMax = 16
const samplesMax = 4

/** A prompt up to this many times the smallest says of the overhead what that one says. */
const smallFactorMax = 1.2

/** Up to this share our count of texts may be off without anything hidden beside them. */
const textErrorShare = 0.1

/** Surroundings that differ by no more than this are the same with other details. */
const nearShare = 0.1
const nearTokens = 256

/** No prompt has more; whatever says so is damaged. */
const tokensMax = 1_000_000_000

function isSurroundings(value: unknown): boolean {
  if (!Array.isArray(value) || value.length !== 2) return false
  const [aroundTokens, samples]: readonly unknown[] = value
  if (!isSize(aroundTokens) || !Array.isArray(samples)) return false
  return samples.length > 0 && samples.length <= samplesMax && samples.every(isSample)
}

function isSample(value: unknown): boolean {
  return Array.isArray(value) && value.length === 2 && value.every(isSize)
}

function isSize(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value <= tokensMax
}

/** The smallest prompt says most, however old; of those about as small the newest are true of today. */
function kept(known: readonly Sample[], sample: Sample): readonly Sample[] {
  const all = [...known, sample]
  const smallest = all.reduce((least, each) => (each.ownTokens < least.ownTokens ? each : least))
  const others = all.filter(
    (each) => each !== smallest && each.ownTokens <= smallest.ownTokens * smallFactorMax,
  )
  return [smallest, ...others.slice(1 - samplesMax)]
}

function nearestOf(known: readonly number[], aroundTokens: number): number | null {
  const distance = (tokens: number) => Math.abs(tokens - aroundTokens)
  const nearest = known.reduce<number | null>(
    (best, tokens) => (best === null || distance(tokens) < distance(best) ? tokens : best),
    null,
  )
  const reach = Math.max(nearTokens, aroundTokens * nearShare)
  return nearest !== null && distance(nearest) <= reach ? nearest : null
}

/** What remains of the difference once as much as texts may explain is taken off. */
function overheadOf({ ownTokens, promptTokens, aroundTokens }: Sample, ratio: number): Overhead {
  const difference = promptTokens - ownTokens * ratio
  const doubtTokens = (ownTokens - aroundTokens) * ratio * textErrorShare
  const tokens = Math.sign(difference) * Math.max(0, Math.ceil(Math.abs(difference) - doubtTokens))
  return { tokens, doubtTokens }
}
