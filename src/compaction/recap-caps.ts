import { RECAP_TOKENS_MIN } from './recap/recap.ts'
import type { Policy } from './policy.ts'

/** The most that stands for folded messages, in tokens. */
export type RecapCaps = {
  /** Recaps. */
  readonly recapTokensMax: number
  /** Recaps and summaries together. */
  readonly tokensMax: number
  /** Quoted system messages, on top. */
  readonly systemTokensMax: number
}

export type RecapRoom = {
  /** What there is for recaps and everything else that is not fixed. */
  readonly roomTokens: number
  /** What the protected tail takes of it. */
  readonly tailTokens: number
  readonly targetTokens: number
  readonly smallest: boolean
}

/** How much recaps may take in the view of a stride. */
export function recapCaps(policy: Policy, room: RecapRoom): RecapCaps {
  const { roomTokens, tailTokens, targetTokens, smallest } = room
  const isBesideTail = tailTokens > roomTokens * (1 - RECAP_SHARE)
  const ordinary = isBesideTail ? RECAP_SHARE_BESIDE_TAIL : RECAP_SHARE
  const share = smallest ? SMALLEST_RECAP_SHARE : ordinary
  const largest = smallest ? SMALLEST_RECAP_TOKENS : policy.recap.max_tokens
  const tokensMax = Math.max(0, Math.floor(roomTokens * share))
  return {
    recapTokensMax: Math.min(largest, tokensMax),
    tokensMax,
    systemTokensMax: quotedSystemTokensMax(targetTokens),
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

/** A recap never takes more than this share of the room under the target … */
const RECAP_SHARE = 0.8

/** … nor more than this where the protected tail needs the rest. */
const RECAP_SHARE_BESIDE_TAIL = 0.5

/** The recap of the smallest form: enough for the names of what was done last, and a quarter of what there is. */
const SMALLEST_RECAP_TOKENS = 128
const SMALLEST_RECAP_SHARE = 0.25

/** Folded system messages are quoted within this share of the target. */
const QUOTED_SYSTEM_SHARE = 0.25

/** A recap takes at most this share of what it replaces. */
const CONTENT_SHARE = 0.6
