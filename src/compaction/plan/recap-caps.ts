import { RECAP_TOKENS_MIN } from '../recap/recap.ts'
import type { Policy } from '../policy.ts'
import type { Shares } from './shares.ts'

/** The most that stands for folded messages, in tokens. */
export type RecapCaps = {
  /** Recaps. */
  readonly recapTokensMax: number
  /** Recaps and summaries together … */
  readonly tokensMax: number
  /** … unless summaries leave less than this for the recaps beside them, which say first what the user said: … */
  readonly besideTokensMin: number
  /** … then both may take so much. */
  readonly togetherTokensMax: number
  /** Quoted system messages, on top. */
  readonly systemTokensMax: number
}

export type RecapRoom = {
  readonly shares: Pick<Shares, 'recapMin' | 'recapMax'>
  /** What the budget leaves beside system messages and tools. */
  readonly roomTokens: number
  /** What fixed parts and newest messages leave under the target; below zero where they take more. */
  readonly leftTokens: number
  readonly targetTokens: number
  readonly smallest: boolean
}

/** How much stands for folded messages in the view of a compaction. */
export function recapCaps(policy: Policy, room: RecapRoom): RecapCaps {
  const { shares, roomTokens, leftTokens, targetTokens, smallest } = room
  const systemTokensMax = quotedSystemTokensMax(smallest ? roomTokens : targetTokens)
  if (smallest) {
    const tokensMax = Math.floor(roomTokens * SMALLEST_RECAP_SHARE)
    return {
      recapTokensMax: Math.min(SMALLEST_RECAP_TOKENS, tokensMax),
      tokensMax,
      besideTokensMin: 0,
      togetherTokensMax: tokensMax,
      systemTokensMax,
    }
  }
  const within = (tokens: number): number =>
    Math.max(shares.recapMin, Math.min(shares.recapMax, Math.floor(tokens)))
  return {
    recapTokensMax: Math.min(policy.recap.max_tokens, within(leftTokens)),
    tokensMax: within(leftTokens),
    besideTokensMin: Math.min(policy.recap.max_tokens, shares.recapMin),
    togetherTokensMax: shares.recapMax,
    systemTokensMax,
  }
}

/** How much quoted system messages may take, in tokens: they come on top. */
export function quotedSystemTokensMax(targetTokens: number): number {
  return Math.max(0, Math.floor(targetTokens * QUOTED_SYSTEM_SHARE))
}

/** What the recap of so many tokens may take: nearly as long as what it replaces, it is not worth a cache miss. */
export function recapTokensOf(foldedTokens: number): number {
  return Math.min(foldedTokens, Math.max(RECAP_TOKENS_MIN, Math.floor(foldedTokens * CONTENT_SHARE)))
}

// --- internal ---

/** The recap of the smallest form: enough for the names of what was done last, and a quarter of what there is. */
const SMALLEST_RECAP_TOKENS = 128
const SMALLEST_RECAP_SHARE = 0.25

/** Folded system messages are quoted within this share of the target. */
const QUOTED_SYSTEM_SHARE = 0.25

/** A recap takes at most this share of what it replaces. */
const CONTENT_SHARE = 0.6
