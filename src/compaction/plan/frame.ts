import { countBelow } from '../../conversation/count-below.ts'
import type { Steps } from '../../conversation/source.ts'
import { thresholdTokens } from '../../pressure/pressure.ts'
import { targetOf, triggerOf } from '../../profiles/thresholds.ts'
import { clipsByIndex, plannedTokens, UNTOUCHED } from '../layout.ts'
import type { Ledger } from '../ledger.ts'
import { hasLimit } from './limit.ts'
import { partsAt, recentMessages, type Parts, type Recent, type RecentOptions } from './parts.ts'
import { pinsAt, type Pins } from './pins.ts'
import type { Policy, Room } from '../policy.ts'
import { SHARE, sharesOf, type PartSizes, type Shares } from './shares.ts'
import type { Fold, Stride, StrideReason } from '../stride.ts'
import type { Subject } from '../subject.ts'

export type PlanOptions = {
  readonly point: number
  readonly previous: Stride | null
  readonly room: Room
  readonly reason: StrideReason
  /** Whether the view before is known not to fit, whatever our count says. */
  readonly isBeyondBudget: boolean
  /** How many of the newest messages to pin; the profile's number, halved by each overflow. */
  readonly keepRecent: number
  /** As little as possible: the last attempt of a recovery. */
  readonly smallest: boolean
  /** Whether frontiers before an assistant message are preferred. */
  readonly strict: boolean
  /** A fold whose summaries are there: it is taken, and only what they do not reach goes into a recap. */
  readonly prepared: PreparedFold | null
  /**
   * Only planned, for when the trigger will be reached: what a summary may take at most then, in tokens. Null: a stride
   * that is made now.
   */
  readonly plannedTokensMax: number | null
  /** What the view weighs under the stride before, up to `point`, beside what surrounds it; null: as it was planned. */
  readonly viewTokens: number | null
}

/** A fold that was planned ahead, with the summaries that were written for it. */
export type PreparedFold = Pick<Fold, 'frontier' | 'kept' | 'summaries'>

/** Where the calls begin that are to be seen, and what they take without their results, in tokens. */
type CallsSeen = { readonly from: number; readonly tokens: number }

/** What a stride is planned within: what it starts from, what each part has a right to, and how far down it is to come. */
export type PlanFrame = {
  readonly pins: Pins
  readonly parts: Parts
  readonly shares: Shares
  /** What the budget leaves beside system messages and tools, in tokens; at least 0. */
  readonly roomTokens: number
  /** The stride so far. */
  readonly before: Stride | typeof UNTOUCHED
  readonly beforeTokens: number
  /** What no stride takes away, by its share: it surrounds the conversation, or is pinned. */
  readonly fixedTokens: number
  readonly targetTokens: number
  readonly triggerTokens: number
  /** How much the view will grow until the stride is due, where that is only planned. */
  readonly aheadTokens: number
  readonly mustFit: boolean
  /** Whether the stride is made however little it frees. */
  readonly demanded: boolean
  /** Whether a stride is made because there are too many messages, not because they are too large. */
  readonly isByLength: boolean
  /** Whether the profile says itself how much stays: by a limit, or by a target of its own that can be reached. */
  readonly saysItself: boolean
  /** Where the newest messages begin that stay as they were, and what they take beside pinned ones. */
  readonly recentFrom: number
  readonly recentTokens: number
  /** The calls before them, as far as they have a right before old results and before a recap. */
  readonly calls: CallsSeen
  /** The unit before them is cut down to so many tokens, where they would not come to their share without it. */
  readonly cutUnit: { readonly from: number; readonly tokensMax: number } | null
  /** Where a pass begins, in tokens: where it has no threshold of its own, with the trigger. */
  readonly thresholdOf: (at: number | null) => number
  /** Whether a pass runs. */
  readonly runs: (at: number | null) => boolean
}

export function* frameOf(
  subject: Subject,
  ledger: Ledger,
  policy: Policy,
  options: PlanOptions,
): Steps<PlanFrame> {
  const { point, room, reason, smallest } = options
  const pins = pinsAt(subject, policy, point)
  const wholeTokens = Math.max(0, room.budgetTokens - room.aroundTokens)
  const parts = partsAt(subject, ledger, pins, { point, roomTokens: wholeTokens })
  const roomTokens = Math.max(0, wholeTokens - parts.systemTokens)
  const before = options.previous ?? UNTOUCHED
  const { systemCount } = subject.structure
  const viewTokens = options.viewTokens ?? (yield* plannedTokens(ledger, before, systemCount, point))
  const beforeTokens = room.aroundTokens + viewTokens
  const mustFit = options.isBeyondBudget || beforeTokens > room.budgetTokens
  // Made below the pressure, a compaction divides what there is and not what there is room for.
  const isForLater = options.plannedTokensMax !== null || hasLimit(policy)
  const dividedTokens = isForLater
    ? roomTokens
    : Math.min(roomTokens, Math.max(0, viewTokens - parts.systemTokens))
  const shares =
    isAskedFor(reason) && !mustFit
      ? sharesBeside(dividedTokens, parts.sizes)
      : sharesOf(dividedTokens, parts.sizes)
  const fixedTokens =
    room.aroundTokens + parts.systemTokens + shares.task + shares.latestUser + parts.sizes.newestUser
  const thresholdOf = (at: number | null): number =>
    thresholdTokens(at ?? triggerOf(policy), room.budgetTokens, fixedTokens)
  // A profile with a limit, or with a target of its own and room to reach it, says itself how much of them stays.
  const saysItself = hasLimit(policy) || (policy.target !== null && !mustFit)
  const recentWith = (keepRecent: number, limits: RecentLimits): Recent => {
    const { tokensMin, tokensMax, keptTokensMax } = smallest ? NO_LIMITS : limits
    return recentMessages(subject, ledger, pins, {
      point,
      parts,
      keepRecent: smallest ? 0 : keepRecent,
      tokensMin: saysItself ? 0 : tokensMin,
      tokensMax,
      keptTokensMax,
    })
  }
  const { recentMin, recentMax } = shares
  const least = recentWith(0, { tokensMin: recentMin, tokensMax: recentMax, keptTokensMax: 0 })
  // What the profile keeps is measured by the room, however early a compaction is made.
  const { keptMax, recapMin } = sharesOf(roomTokens, parts.sizes)
  const latest = latestRounds(subject, ledger, point)
  const besideTokens = thresholdOf(null) - fixedTokens - recapMin
  // Beside the newest round alone: what stands before it gives way first.
  const newestTokens = parts.sizes.newestRound + parts.sizes.newestUser
  const fitting =
    besideTokens - newestTokens < latest.least ? 0 : roundsAhead(besideTokens - least.tokens, latest)
  // Planned ahead, there is always something to fold by the time it is due.
  const rounds = saysItself
    ? ROUNDS_AHEAD
    : options.plannedTokensMax === null
      ? fitting
      : Math.max(1, fitting)
  const callsTokensMax = roomTokens * SHARE.calls
  // Where not even one more round would fit, newest messages and recap share what is left.
  const crowdedTokens =
    least.tokens + Math.max(0, thresholdOf(null) - fixedTokens - callsTokensMax - least.tokens) / 2
  const roomyTokens = saysItself ? Infinity : besideTokens - rounds * latest.mean
  const limits =
    rounds === 0
      ? {
          tokensMin: Math.max(recentMin, crowdedTokens),
          tokensMax: Math.max(recentMax, crowdedTokens),
          keptTokensMax: Math.min(keptMax, crowdedTokens),
        }
      : { tokensMin: recentMin, tokensMax: recentMax, keptTokensMax: Math.min(keptMax, roomyTokens) }
  const recent = recentWith(options.keepRecent, limits)
  const recentFrom = recent.from
  const recentTokens = tokensBeside(subject, ledger, pins, recentFrom, point)
  const cutTokensMax = rounds === 0 ? crowdedTokens : Math.max(recentMin, Math.min(recentMax, roomyTokens))
  const cutTokens = recent.cutFrom === null ? 0 : Math.floor(cutTokensMax - recent.tokens)
  const calls = smallest
    ? { from: recentFrom, tokens: 0 }
    : yield* callsSeen(subject, ledger, { end: recentFrom, point, tokensMax: callsTokensMax })
  const goalTokens =
    rounds === 0
      ? thresholdOf(null)
      : Math.min(goalOf(policy, options, beforeTokens, fixedTokens), thresholdOf(null) - rounds * latest.mean)
  const targetTokens = smallest ? 0 : goalTokens
  const triggerTokens = Math.max(targetTokens, thresholdOf(null))
  // Planned ahead, a stride frees now what it has to free when the view has grown up to the trigger.
  const aheadTokens = options.plannedTokensMax === null ? 0 : Math.max(0, triggerTokens - beforeTokens)
  const demanded = mustFit || reason === 'forced' || reason === 'overflow'
  const isByLength = reason === 'limit'
  return {
    pins,
    parts,
    shares,
    roomTokens,
    before,
    beforeTokens,
    fixedTokens,
    targetTokens,
    triggerTokens,
    aheadTokens,
    mustFit,
    demanded,
    isByLength,
    saysItself,
    recentFrom,
    recentTokens,
    calls,
    cutUnit:
      recent.cutFrom === null || cutTokens < CUT_UNIT_TOKENS_MIN
        ? null
        : { from: recent.cutFrom, tokensMax: cutTokens },
    thresholdOf,
    // What is too long and not too large needs no pass but the fold.
    runs: (at) =>
      demanded || isAskedFor(reason) || (!isByLength && beforeTokens + aheadTokens >= thresholdOf(at)),
  }
}

/** Whether a stride is made for another reason than its size. */
export function isAskedFor(reason: StrideReason): boolean {
  return reason === 'forced' || reason === 'every'
}

/** A stride by pressure that would free less waits until the budget forces it. */
export function savingsMinTokens(room: Room): number {
  return Math.max(SAVINGS_MIN_TOKENS, Math.floor(room.budgetTokens * SAVINGS_MIN_SHARE))
}

// --- internal ---

type RecentLimits = Pick<RecentOptions, 'tokensMin' | 'tokensMax' | 'keptTokensMax'>

const NO_LIMITS: RecentLimits = { tokensMin: 0, tokensMax: 0, keptTokensMax: 0 }

/** The shares of what there is beside task and latest user message: nobody needs their room while all of it fits. */
function sharesBeside(roomTokens: number, sizes: PartSizes): Shares {
  const { task, latestUser } = sizes
  const others = sharesOf(roomTokens - task - latestUser, { ...sizes, task: 0, latestUser: 0 })
  return { ...others, task, latestUser, sure: { ...others.sure, task, latestUser } }
}

const SAVINGS_MIN_TOKENS = 1024
const SAVINGS_MIN_SHARE = 0.1

/** A compaction leaves room for so many rounds like the latest ones, wherever the conversation allows it. */
const ROUNDS_AHEAD = 2

/** Less than this of a unit that is too large to stay tells nothing, in tokens. */
const CUT_UNIT_TOKENS_MIN = 128
/** By how many rounds it is told what one takes. */
const ROUNDS_WEIGHED = 4

/** How far a stride goes, in tokens of the whole prompt. One that was asked for goes as far below where it begins. */
function goalOf(policy: Policy, options: PlanOptions, beforeTokens: number, fixedTokens: number): number {
  const setting = targetOf(policy)
  const target = thresholdTokens(setting, options.room.budgetTokens, fixedTokens)
  if (!isAskedFor(options.reason)) return target
  const share = setting > 1 ? setting / options.room.budgetTokens : setting
  return Math.min(target, Math.floor(fixedTokens + share * (beforeTokens - fixedTokens)))
}

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

const NO_CLIPS = clipsByIndex([])

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
