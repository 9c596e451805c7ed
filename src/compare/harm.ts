import { openDice } from '../demo/dice.ts'

/** What was seen at one moment: whether a reply differs from the first in full, in each aspect. */
export type Pair<Aspect extends string> = {
  readonly conversation: string
  /** The second reply in full. */
  readonly again: Readonly<Record<Aspect, boolean>>
  /** The reply to the compacted request. */
  readonly compacted: Readonly<Record<Aspect, boolean>>
}

/** How often those differ. */
export type Harm = {
  readonly again: number
  readonly compacted: number
  /** Differing compacted less differing anyway, of all pairs, with the interval of 95 %; null where there are too few. */
  readonly harm: { readonly share: number; readonly low: number; readonly high: number } | null
}

/** Below so many pairs one reply more or less moves the figure by more than most compactions do. */
export const PAIRS_MIN = 50

/** Moments of one conversation resemble each other: of fewer conversations than these nothing is known of others. */
export const CONVERSATIONS_MIN = 5

/** The harm in one aspect; its interval by drawing conversations, not pairs, again and again. */
export function harmIn<Aspect extends string>(
  aspect: Aspect,
  pairs: readonly Pair<Aspect>[],
  seed: number,
): Harm {
  const again = pairs.filter((pair) => pair.again[aspect]).length
  const compacted = pairs.filter((pair) => pair.compacted[aspect]).length
  const conversations = [...Map.groupBy(pairs, ({ conversation }) => conversation).values()].map((own) => ({
    pairs: own.length,
    more:
      own.filter((pair) => pair.compacted[aspect]).length - own.filter((pair) => pair.again[aspect]).length,
  }))
  if (pairs.length < PAIRS_MIN || conversations.length < CONVERSATIONS_MIN)
    return { again, compacted, harm: null }
  const dice = openDice(seed)
  const shares = Array.from({ length: DRAWS }, () => {
    const drawn = conversations.map(() => conversations[dice.below(conversations.length)])
    const sum = (what: 'more' | 'pairs'): number => drawn.reduce((all, each) => all + (each?.[what] ?? 0), 0)
    return sum('more') / sum('pairs')
  }).toSorted((one, other) => one - other)
  const at = (share: number): number => shares[Math.round(share * (DRAWS - 1))] ?? 0
  return {
    again,
    compacted,
    harm: { share: (compacted - again) / pairs.length, low: at(0.025), high: at(0.975) },
  }
}

// --- internal ---

const DRAWS = 4_000
