import type { Steps } from '../../json/source.ts'
import { targetOf, triggerOf } from '../../profiles/effective.ts'
import { thresholdTokens } from '../../tokens/budget.ts'
import type { Compaction } from '../compaction.ts'
import { mayBeCleared } from '../edits.ts'
import { UNTOUCHED } from '../layout.ts'
import type { Policy, Room } from '../policy.ts'
import { plannedTokens, type TokenCounts } from '../token-counts.ts'
import { openWorkAt, type WorkRoom } from '../history/calls/open-work.ts'
import { hasLimit } from './limit.ts'
import type { PlanOptions } from './options.ts'
import {
  type Parts,
  partsAt,
  type PartSizes,
  type Pins,
  pinsAt,
  SHARE,
  type Shares,
  sharesOf,
} from './parts.ts'
import { countBelow } from '../../conversation/count-below.ts'
import { opensMessage, type Subject } from '../history/subject.ts'

/** What a compaction is planned within: what it starts from, what each part has a right to, and how far down it is to come. */
export type Frame = Rights &
  ProtectedTail & {
    /** The compaction so far. */
    readonly before: Compaction | typeof UNTOUCHED
    readonly beforeTokens: number
    /** What no compaction takes away, by its share: it surrounds the conversation, or is pinned. */
    readonly fixedTokens: number
    readonly targetTokens: number
    readonly triggerTokens: number
    /** How much the view will grow until the compaction is due, if that is only planned … */
    readonly growthTokens: number
    /** … and how much of that no clearing will take away. */
    readonly aheadTokens: number
    readonly mustFit: boolean
    /** Whether the compaction is made however little it frees. */
    readonly demanded: boolean
    /** Whether the compaction is made by request or by count. */
    readonly isAskedFor: boolean
    /** Whether nothing but the size of the view asks for a compaction, and it would still fit. */
    readonly isByPressure: boolean
    /** The open list of work, and what it takes where a recap tells it; null if there is none, or too much of it. */
    readonly work: WorkRoom | null
  }

export function* frameOf(counts: TokenCounts, options: PlanOptions): Steps<Frame> {
  const { subject, policy } = counts
  const { point, room, reason, plannedTokensMax } = options
  const pins = pinsAt(subject, policy, point)
  const wholeTokens = Math.max(0, room.budgetTokens - room.aroundTokens)
  const parts = partsAt(counts, pins, point, wholeTokens)
  yield
  const roomTokens = Math.max(0, wholeTokens - parts.systemTokens)
  const before = options.previous ?? UNTOUCHED
  const viewTokens = options.viewTokens ?? (yield* plannedTokens(counts, before, point))
  const beforeTokens = room.aroundTokens + viewTokens
  const mustFit = options.isBeyondBudget || beforeTokens > room.budgetTokens
  const isAskedFor = reason === 'forced' || reason === 'every'
  // Made below the pressure, a compaction divides what there is and not what there is room for.
  const isForLater = plannedTokensMax !== null || hasLimit(policy)
  const dividedTokens = isForLater
    ? roomTokens
    : Math.min(roomTokens, Math.max(0, viewTokens - parts.systemTokens))
  const wholeShares = sharesOf(roomTokens, parts.sizes)
  const divided =
    isAskedFor && !mustFit ? sharesBeside(dividedTokens, parts.sizes) : sharesOf(dividedTokens, parts.sizes)
  // What a user asked for keeps its share of the whole room, however little of that is taken now.
  const shares = {
    ...divided,
    task: Math.max(divided.task, wholeShares.sure.task),
    latestUser: Math.max(divided.latestUser, wholeShares.sure.latestUser),
  }
  const fixedTokens =
    room.aroundTokens + parts.systemTokens + shares.task + shares.latestUser + parts.sizes.newestUser
  const startTokens = thresholdTokens(triggerOf(policy), room.budgetTokens, fixedTokens)
  const saysItself = hasLimit(policy) || (policy.target !== null && !mustFit)
  const freeTokens = startTokens - fixedTokens
  const rights = { counts, options, pins, parts, shares, wholeShares, roomTokens, freeTokens, saysItself }
  const tail = yield* protectedTail(rights)
  let targetTokens = startTokens
  if (tail.nextRoundTokens !== null) {
    const goalTokens = goalOf(policy, room, isAskedFor, beforeTokens, fixedTokens)
    targetTokens = Math.min(goalTokens, startTokens - tail.nextRoundTokens)
  }
  if (options.smallest) targetTokens = 0
  const triggerTokens = Math.max(targetTokens, startTokens)
  const growthTokens = plannedTokensMax === null ? 0 : Math.max(0, triggerTokens - beforeTokens)
  const open = yield* openWorkAt(subject, point)
  const workTokens = open === null ? 0 : WORK_HEADING_TOKENS + (yield* subject.countSteps(open.whole))
  const demanded = mustFit || reason === 'forced' || reason === 'overflow'
  return {
    ...rights,
    ...tail,
    before,
    beforeTokens,
    fixedTokens,
    targetTokens,
    triggerTokens,
    // Planned ahead, a compaction frees now what it has to free when the view has grown up to the trigger.
    growthTokens,
    aheadTokens: growthTokens === 0 ? 0 : growthTokens * stayingShare(counts, point),
    mustFit,
    demanded,
    isAskedFor,
    isByPressure: !demanded && reason !== 'limit' && !isAskedFor,
    work:
      open === null || workTokens > roomTokens * SHARE.kept
        ? null
        : { from: open.calls[0] ?? point, tokens: workTokens },
  }
}

/** Where a pass begins, in tokens: if it has no threshold of its own, with the trigger. */
export function thresholdOf({ counts, options, fixedTokens }: Frame, at: number | null): number {
  return thresholdTokens(at ?? triggerOf(counts.policy), options.room.budgetTokens, fixedTokens)
}

/** Whether a pass runs that begins there. A view that is too long and not too large needs no pass but the fold. */
export function runs(frame: Frame, at: number | null): boolean {
  if (frame.demanded || frame.isAskedFor) return true
  return frame.options.reason !== 'limit' && frame.beforeTokens + frame.growthTokens >= thresholdOf(frame, at)
}

/** Whether a message is task or latest user message. */
export function isPinned({ task, latestUser }: Pins, index: number): boolean {
  return index === task || index === latestUser
}

// --- internal ---

const WORK_HEADING_TOKENS = 16

/** How much of a conversation clearing leaves, as a share: what comes is taken to be like what was. */
function stayingShare({ subject, policy, originalTokens }: TokenCounts, point: number): number {
  const { clear } = policy
  const start = subject.structure.systemCount
  const allTokens = originalTokens(start, point)
  if (!clear.enabled || allTokens === 0) return 1
  let resultTokens = 0
  for (let index = start; index < point; index += 1)
    if (subject.messages[index]?.facts.role === 'tool' && mayBeCleared(subject, clear.except_tools, index))
      resultTokens += subject.sizes[index] ?? 0
  return 1 - resultTokens / allTokens
}

/** The shares of what there is beside task and latest user message: nobody needs their room while all of it fits. */
function sharesBeside(roomTokens: number, sizes: PartSizes): Shares {
  const { task, latestUser } = sizes
  const others = sharesOf(roomTokens - task - latestUser, { ...sizes, task: 0, latestUser: 0 })
  return { ...others, task, latestUser, sure: { ...others.sure, task, latestUser } }
}

/** How far a compaction goes, in tokens of the whole prompt. One that was asked for goes as far below where it begins. */
function goalOf(
  policy: Policy,
  { budgetTokens }: Room,
  isAskedFor: boolean,
  beforeTokens: number,
  fixedTokens: number,
): number {
  const setting = targetOf(policy)
  const target = thresholdTokens(setting, budgetTokens, fixedTokens)
  if (!isAskedFor) return target
  const share = setting > 1 ? setting / budgetTokens : setting
  return Math.min(target, Math.floor(fixedTokens + share * (beforeTokens - fixedTokens)))
}

/** What a compaction leaves of the newest messages, so that further rounds fit beside them. */
type ProtectedTail = {
  /** Where the messages begin that stay as they were, and what they take beside pinned ones, in tokens. */
  readonly recentFrom: number
  readonly recentTokens: number
  /** The unit before them is cut down to so many tokens, where they would not come to their share without it. */
  readonly cutUnit: { readonly from: number; readonly tokensMax: number } | null
  /** What the next round will take, for which room is left, in tokens; null where it would not fit. */
  readonly nextRoundTokens: number | null
}

/** What the parts of a conversation have a right to when a compaction is planned. */
type Rights = {
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

function* protectedTail(rights: Rights): Steps<ProtectedTail> {
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

/**
 * The newest messages that a compaction leaves as they were: the newest round, and before it whole units, for at least
 * their share and for as many messages as the profile keeps, as far as there is room. `from`: where they begin; `tokens`: what
 * they take beside pinned ones; `cutFrom`: where the unit before them begins if it is too large to stay whole, so that they do
 * not come to their share without it.
 */
function recentMessages(rights: Rights, { keepRecent, keptTokensMax, tokensMin, tokensMax }: RecentBounds) {
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
function latestRounds({ subject, originalTokens }: TokenCounts, point: number) {
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
