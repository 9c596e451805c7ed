import { countBelow } from '../../conversation/count-below.ts'
import type { Steps } from '../../conversation/source.ts'
import { NO_CLIPS } from '../layout.ts'
import type { Ledger } from '../ledger.ts'
import type { Subject } from '../subject.ts'
import type { PlanOptions } from './options.ts'
import type { Parts } from './parts.ts'
import type { Pins } from './pins.ts'
import { recentMessages, type Recent, type RecentOptions } from './recent.ts'
import { SHARE, type Shares } from './shares.ts'

/** What a compaction leaves of the newest messages, so that further rounds fit beside them. */
export type Newest = {
  /** Where the messages begin that stay as they were, and what they take beside pinned ones, in tokens. */
  readonly recentFrom: number
  readonly recentTokens: number
  /** The unit before them is cut down to so many tokens, where they would not come to their share without it. */
  readonly cutUnit: { readonly from: number; readonly tokensMax: number } | null
  /** The calls before them, as far as they have a right before old results and before a recap. */
  readonly calls: CallsSeen
  /** What the rounds take for which room is left, in tokens; null where no further round would fit. */
  readonly roundsTokens: number | null
}

/** Where the calls begin that are to be seen, and what they take without their results, in tokens. */
export type CallsSeen = { readonly from: number; readonly tokens: number }

export type NewestOptions = {
  readonly plan: PlanOptions
  readonly pins: Pins
  readonly parts: Parts
  readonly shares: Shares
  /** The shares of the whole room, however early a compaction is made: what the profile keeps is measured by it. */
  readonly wholeShares: Pick<Shares, 'keptMax' | 'recapMin'>
  readonly roomTokens: number
  /** What the trigger leaves beside fixed parts, in tokens. */
  readonly freeTokens: number
  /** Whether the profile says itself how much stays. */
  readonly saysItself: boolean
}

export function* newestOf(subject: Subject, ledger: Ledger, options: NewestOptions): Steps<Newest> {
  const { pins, parts, shares, wholeShares, roomTokens, freeTokens, saysItself } = options
  const { point, smallest, keepRecent, plannedTokensMax } = options.plan
  const { recentMin, recentMax } = shares
  const recentWith = (kept: number, limits: RecentLimits): Recent => {
    const { tokensMin, tokensMax, keptTokensMax } = smallest ? NO_LIMITS : limits
    return recentMessages(subject, ledger, pins, {
      point,
      parts,
      keepRecent: smallest ? 0 : kept,
      tokensMin: saysItself ? 0 : tokensMin,
      tokensMax,
      keptTokensMax,
    })
  }
  const least = recentWith(0, { tokensMin: recentMin, tokensMax: recentMax, keptTokensMax: 0 })
  const latest = latestRounds(subject, ledger, point)
  const besideTokens = freeTokens - wholeShares.recapMin
  // Beside the newest round alone: what stands before it gives way first.
  const newestTokens = parts.sizes.newestRound + parts.sizes.newestUser
  const fitting =
    besideTokens - newestTokens < latest.least ? 0 : roundsAhead(besideTokens - least.tokens, latest)
  // Planned ahead, there is always something to fold by the time it is due.
  const planned = plannedTokensMax === null ? fitting : Math.max(1, fitting)
  const rounds = saysItself ? ROUNDS_AHEAD : planned
  const callsTokensMax = roomTokens * SHARE.calls
  // Where not even one more round would fit, newest messages and recap share what is left.
  const crowdedTokens = least.tokens + Math.max(0, freeTokens - callsTokensMax - least.tokens) / 2
  const roomyTokens = saysItself ? Infinity : besideTokens - rounds * latest.mean
  const { keptMax } = wholeShares
  const limits =
    rounds === 0
      ? {
          tokensMin: Math.max(recentMin, crowdedTokens),
          tokensMax: Math.max(recentMax, crowdedTokens),
          keptTokensMax: Math.min(keptMax, crowdedTokens),
        }
      : { tokensMin: recentMin, tokensMax: recentMax, keptTokensMax: Math.min(keptMax, roomyTokens) }
  const recent = recentWith(keepRecent, limits)
  const cutTokensMax = rounds === 0 ? crowdedTokens : Math.max(recentMin, Math.min(recentMax, roomyTokens))
  const cutTokens = recent.cutFrom === null ? 0 : Math.floor(cutTokensMax - recent.tokens)
  return {
    recentFrom: recent.from,
    recentTokens: tokensBeside(subject, ledger, pins, recent.from, point),
    cutUnit:
      recent.cutFrom === null || cutTokens < CUT_UNIT_TOKENS_MIN
        ? null
        : { from: recent.cutFrom, tokensMax: cutTokens },
    calls: smallest
      ? { from: recent.from, tokens: 0 }
      : yield* callsSeen(subject, ledger, { end: recent.from, point, tokensMax: callsTokensMax }),
    roundsTokens: rounds === 0 ? null : rounds * latest.mean,
  }
}

// --- internal ---

type RecentLimits = Pick<RecentOptions, 'tokensMin' | 'tokensMax' | 'keptTokensMax'>

const NO_LIMITS: RecentLimits = { tokensMin: 0, tokensMax: 0, keptTokensMax: 0 }

/** A compaction leaves room for so many rounds like the latest ones, wherever the conversation allows it. */
const ROUNDS_AHEAD = 2

/** Less than this of a unit that is too large to stay tells nothing, in tokens. */
const CUT_UNIT_TOKENS_MIN = 128

/** By how many rounds it is told what one takes. */
const ROUNDS_WEIGHED = 4

/** So many of the newest assistant messages are to be seen, whatever becomes of their results. */
const CALLS_SEEN = 10

/** The newest assistant messages before `end`, as far as there is room for them once their results are cleared. */
function* callsSeen(
  subject: Subject,
  ledger: Ledger,
  { end, point, tokensMax }: { readonly end: number; readonly point: number; readonly tokensMax: number },
): Steps<CallsSeen> {
  const { structure, messages } = subject
  const isAssistant = (index: number): boolean => messages[index]?.facts.role === 'assistant'
  let seen = 0
  for (let index = end; index < point; index += 1) if (isAssistant(index)) seen += 1
  const cleared = { render: 0, preview: 0, clear: end }
  let tokens = 0
  let from = end
  for (let unit = end; unit > structure.systemCount && seen < CALLS_SEEN;) {
    const start = Math.max(structure.systemCount, structure.unitStart(unit - 1))
    const more = isAssistant(start) ? yield* ledger.treatedTokens(start, unit, cleared, NO_CLIPS) : 0
    if (tokens + more > tokensMax) break
    tokens += more
    if (isAssistant(start)) {
      seen += 1
      from = start
    }
    unit = start
  }
  return { from, tokens }
}

/** For how many rounds like the latest ones a compaction can leave room, beside what it has to leave. */
function roundsAhead(freeTokens: number, { mean }: { readonly mean: number }): number {
  if (mean === 0) return ROUNDS_AHEAD
  return Math.max(1, Math.min(ROUNDS_AHEAD, Math.floor(freeTokens / mean)))
}

/** What the latest rounds take, in tokens; 0 before the first. */
function latestRounds(
  subject: Subject,
  ledger: Ledger,
  point: number,
): { readonly mean: number; readonly least: number } {
  const { requestPoints } = subject.structure
  const last = countBelow(requestPoints, point)
  const starts = requestPoints.slice(Math.max(0, last - ROUNDS_WEIGHED), last)
  if (starts.length === 0) return { mean: 0, least: 0 }
  const sizes = starts.map((start, order) => ledger.originalTokens(start, starts[order + 1] ?? point))
  return { mean: sizes.reduce((sum, size) => sum + size, 0) / sizes.length, least: Math.min(...sizes) }
}

/** What the messages from `start` on take, without those that are pinned. */
function tokensBeside(
  subject: Subject,
  ledger: Ledger,
  { task, latestUser }: Pins,
  start: number,
  point: number,
): number {
  let tokens = ledger.originalTokens(start, point)
  for (const index of new Set([task, latestUser])) if (index >= start) tokens -= subject.sizes[index] ?? 0
  return tokens
}
