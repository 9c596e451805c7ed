import { countBelow } from '../../conversation/count-below.ts'
import type { Steps } from '../../conversation/source.ts'
import { type TokenCounts } from '../token-counts.ts'
import { opensMessage, type Subject } from '../../subject/subject.ts'
import type { PlanOptions } from './options.ts'
import type { Parts, Pins } from './parts.ts'
import type { Shares } from './shares.ts'

/** What a compaction leaves of the newest messages, so that further rounds fit beside them. */
export type ProtectedTail = {
  /** Where the messages begin that stay as they were, and what they take beside pinned ones, in tokens. */
  readonly recentFrom: number
  readonly recentTokens: number
  /** The unit before them is cut down to so many tokens, where they would not come to their share without it. */
  readonly cutUnit: { readonly from: number; readonly tokensMax: number } | null
  /** What the next round will take, for which room is left, in tokens; null where it would not fit. */
  readonly nextRoundTokens: number | null
}

/** What the parts of a conversation have a right to when a compaction is planned. */
export type Rights = {
  readonly counts: TokenCounts
  readonly options: PlanOptions
  readonly pins: Pins
  readonly parts: Parts
  readonly shares: Shares
  /** The shares of the whole room, however early a compaction is made: what the profile keeps is measured by it. */
  readonly wholeShares: Shares
  /** What the budget leaves beside system messages and tools, in tokens; at least 0. */
  readonly roomTokens: number
  /** What the trigger leaves beside fixed parts, in tokens. */
  readonly freeTokens: number
  /** Whether the profile says itself how much stays: by a limit, or by a target of its own that can be reached. */
  readonly saysItself: boolean
}

export function* protectedTail(rights: Rights): Steps<ProtectedTail> {
  const { counts, options, parts, shares, wholeShares, freeTokens, saysItself } = rights
  const { point, smallest, plannedTokensMax } = options
  const { recentMin, recentMax } = shares
  const leastMin = saysItself ? 0 : recentMin
  const leastBounds = { keepRecent: 0, tokensMin: leastMin, tokensMax: recentMax, keptTokensMax: 0 }
  const least = recentMessages(rights, smallest ? NEWEST_ROUND_ONLY : leastBounds)
  yield
  const latest = latestRounds(counts, point)
  const besideTokens = freeTokens - wholeShares.recapMin
  // Beside the newest round alone: what stands before it gives way first. Planned ahead, there is always something to fold by
  // the time it is due.
  const newestTokens = parts.sizes.newestRound + parts.sizes.newestUser
  const isCrowded = !saysItself && plannedTokensMax === null && besideTokens - newestTokens < latest.least
  // If not even one more round would fit, newest messages and recap share what is left.
  const crowdedTokens = least.tokens + Math.max(0, freeTokens - least.tokens) / 2
  const roomyTokens = saysItself ? Infinity : besideTokens - latest.mean
  const bounds = {
    keepRecent: options.keepRecent,
    tokensMin: isCrowded ? Math.max(leastMin, crowdedTokens) : leastMin,
    tokensMax: isCrowded ? Math.max(recentMax, crowdedTokens) : recentMax,
    keptTokensMax: Math.min(wholeShares.keptMax, isCrowded ? crowdedTokens : roomyTokens),
  }
  const recent = recentMessages(rights, smallest ? NEWEST_ROUND_ONLY : bounds)
  yield
  const cutTokensMax = isCrowded ? crowdedTokens : Math.max(recentMin, Math.min(recentMax, roomyTokens))
  const cutTokens = Math.floor(cutTokensMax - recent.tokens)
  return {
    recentFrom: recent.from,
    recentTokens: tokensBeside(rights, recent.from, point),
    cutUnit:
      recent.cutFrom === null || cutTokens < CUT_UNIT_TOKENS_MIN
        ? null
        : { from: recent.cutFrom, tokensMax: cutTokens },
    nextRoundTokens: isCrowded ? null : latest.mean,
  }
}

// --- internal ---

/** Less than this of a unit that is too large to stay tells nothing, in tokens. */
const CUT_UNIT_TOKENS_MIN = 128

/** By how many rounds it is told what one takes. */
const ROUNDS_COUNTED = 4

type RecentBounds = {
  /** How many of the newest messages are meant to stay. */
  readonly keepRecent: number
  /** How much of them those may take, in tokens. */
  readonly keptTokensMax: number
  /** How much of the newest messages stays as it was anyway, and how much where a whole unit exceeds that, in tokens. */
  readonly tokensMin: number
  readonly tokensMax: number
}

const NEWEST_ROUND_ONLY: RecentBounds = { keepRecent: 0, keptTokensMax: 0, tokensMin: 0, tokensMax: 0 }

type Recent = {
  /** Where they begin. */
  readonly from: number
  /** What they take beside pinned ones, in tokens. */
  readonly tokens: number
  /** Where they do not come to their share, because the unit before them is too large to stay whole: where that begins. */
  readonly cutFrom: number | null
}

/**
 * The newest messages that a compaction leaves as they were: the newest round, and before it whole units, for at least
 * their share and for as many messages as the profile keeps, as far as there is room.
 */
function recentMessages(
  rights: Rights,
  { keepRecent, keptTokensMax, tokensMin, tokensMax }: RecentBounds,
): Recent {
  const { counts, options, parts } = rights
  const { point } = options
  const { structure } = counts.subject
  let from = parts.newestFrom
  let kept = messagesIn(counts.subject, from, point)
  let tokens = parts.sizes.newestRound + parts.sizes.newestUser
  while (from > structure.systemCount) {
    const isKept = kept < keepRecent
    if (tokens >= tokensMin && !isKept) break
    const unit = Math.max(structure.systemCount, structure.unitStart(from - 1))
    const unitTokens = tokensBeside(rights, unit, from)
    if (tokens + unitTokens > (isKept ? Math.max(keptTokensMax, tokensMax) : tokensMax))
      return { from, tokens, cutFrom: tokens < tokensMin ? unit : null }
    tokens += unitTokens
    kept += messagesIn(counts.subject, unit, from)
    from = unit
  }
  return { from, tokens, cutFrom: null }
}

/** How many messages lie from `start` up to `end`; those that one reply consists of are one. */
function messagesIn(subject: Subject, start: number, end: number): number {
  let count = 0
  for (let index = start; index < end; index += 1) if (opensMessage(subject, index)) count += 1
  return count
}

/** What the latest rounds take, in tokens; 0 before the first. */
function latestRounds(
  { subject, originalTokens }: TokenCounts,
  point: number,
): { readonly mean: number; readonly least: number } {
  const { requestPoints } = subject.structure
  const last = countBelow(requestPoints, point)
  const starts = requestPoints.slice(Math.max(0, last - ROUNDS_COUNTED), last)
  if (starts.length === 0) return { mean: 0, least: 0 }
  let least = Infinity
  for (const [order, start] of starts.entries())
    least = Math.min(least, originalTokens(start, starts[order + 1] ?? point))
  return { mean: originalTokens(starts[0] ?? point, point) / starts.length, least }
}

/** What the messages from `start` up to `end` take, without those that are pinned. */
function tokensBeside({ counts, pins }: Rights, start: number, end: number): number {
  let tokens = counts.unboundTokens(start, end)
  for (const index of new Set([pins.task, pins.latestUser]))
    if (index >= start && index < end) tokens -= counts.subject.sizes[index] ?? 0
  return tokens
}
