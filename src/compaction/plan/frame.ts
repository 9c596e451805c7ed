import { countBelow } from '../../conversation/structure.ts'
import type { Pausable } from '../../json/source.ts'
import { targetOf, triggerOf } from '../../profiles/schema.ts'
import { type Room, thresholdTokens } from '../../tokens/budget.ts'
import {
  type Compaction,
  compactionOf,
  type CompactionReason,
  type Fold,
  type PreparedFold,
  type Treatment,
  UNTOUCHED,
} from '../compaction.ts'
import { openWorkAt } from '../history/calls/open-work.ts'
import { opensMessage, type History } from '../history/history.ts'
import { mayBeCleared } from '../passes/clear.ts'
import {
  FREED_TOKENS_MIN,
  quotedSystemTokensMax,
  SHARE,
  sharesBesidePins,
  sharesOf,
  SMALLEST_RECAP_TOKENS,
} from '../shares.ts'
import { plannedTokens, type TokenCounts } from '../token-counts.ts'
import { hasLimit } from './view-length.ts'
import { partsAt, pinsAt, tokensBesidePins } from './pins.ts'
import { ascending } from '../held-thoughts.ts'

export type PlanOptions = {
  readonly point: number
  readonly previous: Compaction | null
  readonly room: Room
  readonly reason: CompactionReason
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
   * Only planned, for when the trigger will be reached: what a summary may take at most then, in tokens. Null: a compaction
   * that is made now.
   */
  readonly plannedTokensMax: number | null
  /** What the view takes under the compaction before, up to `point`, beside what surrounds it; null: as it was planned. */
  readonly viewTokens: number | null
}

/** What a compaction is planned within: what it starts from, what each part has a right to, and how far down it is to come. */
export type Frame = ReturnType<typeof frameOf> extends Pausable<infer Made> ? Made : never

export function* frameOf(counts: TokenCounts, options: PlanOptions) {
  const { history, profile } = counts
  const { point, room, reason, smallest, plannedTokensMax } = options
  const before = options.previous ?? UNTOUCHED
  const viewTokens = options.viewTokens ?? (yield* plannedTokens(counts, before, point))
  const beforeTokens = room.aroundTokens + viewTokens
  const mustFit = options.isBeyondBudget || beforeTokens > room.budgetTokens
  const isAskedFor = reason === 'forced' || reason === 'every'
  const rights = rightsAt(counts, options, viewTokens, mustFit, isAskedFor)
  yield
  const { fixedTokens, startTokens, shares, roomTokens } = rights
  const tail = yield* protectedTail(rights)
  let targetTokens = startTokens
  if (tail.nextRoundTokens !== null) {
    const setting = targetOf(profile)
    const share = setting > 1 ? setting / room.budgetTokens : setting
    // One that was asked for goes as far below where it begins.
    const askedTokens = isAskedFor ? Math.floor(fixedTokens + share * (beforeTokens - fixedTokens)) : Infinity
    const goalTokens = Math.min(thresholdTokens(setting, room.budgetTokens, fixedTokens), askedTokens)
    targetTokens = Math.min(goalTokens, startTokens - tail.nextRoundTokens)
  }
  if (smallest) targetTokens = 0
  const triggerTokens = Math.max(targetTokens, startTokens)
  const growthTokens = plannedTokensMax === null ? 0 : Math.max(0, triggerTokens - beforeTokens)
  const freedTokens = Math.max(FREED_TOKENS_MIN, Math.floor(room.budgetTokens * SHARE.freed))
  const demanded = mustFit || reason === 'forced' || reason === 'overflow'
  const leftTokens = targetTokens - fixedTokens - tail.recentTokens - (tail.cutUnit?.tokensMax ?? 0)
  return {
    ...rights,
    ...tail,
    /** The compaction so far. */
    before,
    beforeTokens,
    targetTokens,
    triggerTokens,
    /** How much the view will grow until the compaction is due, if that is only planned … */
    growthTokens,
    /** … and how much of that no clearing will take away: a compaction frees now what it has to free then. */
    aheadTokens: growthTokens === 0 ? 0 : growthTokens * stayingShare(counts, point),
    /** A view of no more is worth a compaction that nothing forces. */
    worthTokens: beforeTokens - freedTokens,
    mustFit,
    /** Whether the compaction is made however little it frees. */
    demanded,
    /** Whether the compaction is made by request or by count. */
    isAskedFor,
    /** Whether the length of the view asks for it, and not its size. */
    isByLength: reason === 'limit',
    /** Whether nothing but the size of the view asks for a compaction, and it would still fit. */
    isByPressure: !demanded && reason !== 'limit' && !isAskedFor,
    /** What fits, for parts that are cut to fit. */
    fittingTokens: room.budgetTokens - Math.floor(room.budgetTokens * SHARE.countDoubt),
    /** The open list of work, and what it takes where a recap tells it; null if there is none, or too much of it. */
    work: yield* workRoom(history, point, roomTokens * SHARE.kept),
    caps: smallest
      ? smallestCaps(roomTokens)
      : recapCaps(profile.recap.max_tokens, shares, roomTokens, targetTokens, leftTokens),
  }
}

/** Where a pass begins, in tokens: if it has no threshold of its own, with the trigger. */
export function thresholdOf({ counts, options, fixedTokens }: Frame, at: number | null): number {
  return thresholdTokens(at ?? triggerOf(counts.profile), options.room.budgetTokens, fixedTokens)
}

/** Whether a pass runs that begins there. A view that is too long and not too large needs no pass but the fold. */
export function runs(frame: Frame, at: number | null): boolean {
  if (frame.demanded || frame.isAskedFor) return true
  return !frame.isByLength && frame.beforeTokens + frame.growthTokens >= thresholdOf(frame, at)
}

/** How far the planning of a compaction has come. */
export type Draft = Treatment & {
  /** Where the newest messages begin that no pass edits and no fold reaches. */
  readonly protectedFrom: number
  /** What its view takes in tokens, what surrounds it included. */
  readonly tokens: number
}

/** A draft and what its view comes to. */
export function* countedDraft<Drafted extends Omit<Draft, 'tokens'>>(
  { counts, options }: Frame,
  draft: Drafted,
): Pausable<Drafted & Pick<Draft, 'tokens'>> {
  return { ...draft, tokens: options.room.aroundTokens + (yield* plannedTokens(counts, draft, draft.point)) }
}

/** The compaction that a draft is. What is folded is cleared no longer. */
export function recordOf({ options }: Frame, draft: Draft): Compaction {
  const cleared = ascending(draft.cleared.filter(isStayingUnder(draft.fold)))
  return compactionOf(options.reason, { ...draft, cleared })
}

/** Whether a message is not folded, or stays all the same. */
export function isStayingUnder(fold: Fold | null): (index: number) => boolean {
  const staying = new Set([...(fold?.kept ?? []), ...(fold?.restated ?? [])])
  return (index) => index >= (fold?.frontier ?? 0) || staying.has(index)
}

// --- internal ---

/** What the parts of a conversation have a right to when a compaction is planned. */
type Rights = ReturnType<typeof rightsAt>

function rightsAt(
  counts: TokenCounts,
  options: PlanOptions,
  viewTokens: number,
  mustFit: boolean,
  isAskedFor: boolean,
) {
  const { history, profile } = counts
  const { point, room, plannedTokensMax } = options
  const pins = pinsAt(history, profile, point)
  const wholeTokens = Math.max(0, room.budgetTokens - room.aroundTokens)
  const parts = partsAt(counts, pins, point, wholeTokens)
  const roomTokens = Math.max(0, wholeTokens - parts.systemTokens)
  // Made below the pressure, a compaction divides what there is and not what there is room for.
  const isForLater = plannedTokensMax !== null || hasLimit(profile)
  const dividedTokens = isForLater
    ? roomTokens
    : Math.min(roomTokens, Math.max(0, viewTokens - parts.systemTokens))
  const wholeShares = sharesOf(roomTokens, parts.sizes)
  const divide = isAskedFor && !mustFit ? sharesBesidePins : sharesOf
  const divided = divide(dividedTokens, parts.sizes)
  // What a user asked for keeps its share of the whole room, however little of that is taken now.
  const shares = {
    ...divided,
    task: Math.max(divided.task, wholeShares.sure.task),
    latestUser: Math.max(divided.latestUser, wholeShares.sure.latestUser),
  }
  const fixedTokens =
    room.aroundTokens + parts.systemTokens + shares.task + shares.latestUser + parts.sizes.newestUser
  return {
    counts,
    options,
    pins,
    parts,
    shares,
    /** The shares of the whole room, however early a compaction is made: what the profile keeps is measured by it. */
    wholeShares,
    /** What the budget leaves beside system messages and tools, in tokens; at least 0. */
    roomTokens,
    /** What no compaction takes away, by its share: it surrounds the conversation, or is pinned. */
    fixedTokens,
    /** Where the trigger lies. */
    startTokens: thresholdTokens(triggerOf(profile), room.budgetTokens, fixedTokens),
    /** Whether the profile says itself how much stays: by a limit, or by a target of its own that can be reached. */
    saysItself: hasLimit(profile) || (profile.target !== null && !mustFit),
  }
}

/** What stands for folded messages at the most, in tokens. */
function recapCaps(
  recapTokensMax: number,
  { recapMin, recapMax }: Rights['shares'],
  roomTokens: number,
  targetTokens: number,
  leftTokens: number,
) {
  const tokensMax = Math.max(recapMin, Math.min(recapMax, Math.floor(leftTokens)))
  return {
    /** Recaps. */
    recapTokensMax: Math.min(recapTokensMax, tokensMax, Math.floor(roomTokens * SHARE.recapAlone)),
    /** Recaps and summaries together … */
    tokensMax,
    /** … unless summaries leave less than this for the recaps beside them, which say first what the user said: … */
    besideTokensMin: Math.min(recapTokensMax, recapMin),
    /** … then both may take so much. */
    togetherTokensMax: recapMax,
    /** Quoted system messages, on top. */
    systemTokensMax: quotedSystemTokensMax(targetTokens),
    /** What is kept word for word by request, on top of that; so is the open list of work. */
    keptTokensMax: Math.floor(roomTokens * SHARE.kept),
  }
}

function smallestCaps(roomTokens: number): ReturnType<typeof recapCaps> {
  const tokensMax = Math.floor(roomTokens * SHARE.smallestRecap)
  return {
    recapTokensMax: Math.min(SMALLEST_RECAP_TOKENS, tokensMax),
    tokensMax,
    besideTokensMin: 0,
    togetherTokensMax: tokensMax,
    systemTokensMax: quotedSystemTokensMax(roomTokens),
    keptTokensMax: Math.floor(roomTokens * SHARE.kept),
  }
}

const WORK_HEADING_TOKENS = 16

/** The room that a recap needs for the list of work, in tokens, once the first of its calls is folded. */
function* workRoom(history: History, point: number, tokensMax: number) {
  const open = yield* openWorkAt(history, point)
  if (open === null) return null
  const tokens = WORK_HEADING_TOKENS + (yield* history.countSteps(open.whole))
  return tokens > tokensMax ? null : { from: open.calls[0] ?? point, tokens }
}

/** How much of a conversation clearing leaves, as a share: what comes is taken to be like what was. */
function stayingShare({ history, profile, originalTokens }: TokenCounts, point: number): number {
  const { clear } = profile
  const start = history.structure.systemCount
  const allTokens = originalTokens(start, point)
  if (!clear.enabled || allTokens === 0) return 1
  let resultTokens = 0
  for (let index = start; index < point; index += 1)
    if (mayBeCleared(history, clear.except_tools, index)) resultTokens += history.sizes[index] ?? 0
  return 1 - resultTokens / allTokens
}

/** Less than this of a unit that is too large to stay tells nothing, in tokens. */
const CUT_UNIT_TOKENS_MIN = 128

/** What a compaction leaves of the newest messages, so that further rounds fit beside them. */
function* protectedTail(rights: Rights) {
  const { counts, options, pins, parts, shares, wholeShares, saysItself } = rights
  const { point, plannedTokensMax } = options
  const { recentMin, recentMax } = shares
  // What the trigger leaves beside fixed parts.
  const freeTokens = rights.startTokens - rights.fixedTokens
  const leastMin = saysItself ? 0 : recentMin
  const bounds = { keepRecent: 0, keptTokensMax: 0, tokensMin: leastMin, tokensMax: recentMax }
  const least = recentMessages(rights, bounds)
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
  const recent = recentMessages(rights, {
    keepRecent: options.keepRecent,
    tokensMin: isCrowded ? Math.max(leastMin, crowdedTokens) : leastMin,
    tokensMax: isCrowded ? Math.max(recentMax, crowdedTokens) : recentMax,
    keptTokensMax: Math.min(wholeShares.keptMax, isCrowded ? crowdedTokens : roomyTokens),
  })
  yield
  const cutTokensMax = isCrowded ? crowdedTokens : Math.max(recentMin, Math.min(recentMax, roomyTokens))
  const cutTokens = Math.floor(cutTokensMax - recent.tokens)
  return {
    /** Where the messages begin that stay as they were, and what they take beside pinned ones, in tokens. */
    recentFrom: recent.from,
    recentTokens: tokensBesidePins(counts, pins, recent.from, point),
    /** The unit before them is cut down to so many tokens, where they would not come to their share without it. */
    cutUnit:
      recent.cutFrom === null || cutTokens < CUT_UNIT_TOKENS_MIN
        ? null
        : { from: recent.cutFrom, tokensMax: cutTokens },
    /** What the next round will take, for which room is left, in tokens; null where it would not fit. */
    nextRoundTokens: isCrowded ? null : latest.mean,
  }
}

type RecentBounds = {
  /** How many of the newest messages are meant to stay. */
  readonly keepRecent: number
  /** How much of them those may take, in tokens. */
  readonly keptTokensMax: number
  /** How much of the newest messages stays as it was anyway, and how much where a whole unit exceeds that, in tokens. */
  readonly tokensMin: number
  readonly tokensMax: number
}

/**
 * The newest messages that a compaction leaves as they were: the newest round, and before it whole units, for at least
 * their share and for as many messages as the profile keeps, as far as there is room; in the smallest form the round alone.
 * `from`: where they begin; `tokens`: what they take beside pinned ones; `cutFrom`: where the unit before them begins if it is
 * too large to stay whole, so that they do not come to their share without it.
 */
function recentMessages(
  { counts, options, pins, parts }: Rights,
  { keepRecent, keptTokensMax, tokensMin, tokensMax }: RecentBounds,
) {
  const { history } = counts
  const { structure } = history
  let from = parts.newestFrom
  let kept = messagesIn(history, from, options.point)
  let tokens = parts.sizes.newestRound + parts.sizes.newestUser
  while (from > structure.systemCount && !options.smallest) {
    const isKept = kept < keepRecent
    if (tokens >= tokensMin && !isKept) break
    const unit = Math.max(structure.systemCount, structure.unitStart(from - 1))
    const unitTokens = tokensBesidePins(counts, pins, unit, from)
    if (tokens + unitTokens > (isKept ? Math.max(keptTokensMax, tokensMax) : tokensMax))
      return { from, tokens, cutFrom: tokens < tokensMin ? unit : null }
    tokens += unitTokens
    kept += messagesIn(history, unit, from)
    from = unit
  }
  return { from, tokens, cutFrom: null }
}

/** How many messages lie from `start` up to `end`; those that one reply consists of are one. */
function messagesIn(history: History, start: number, end: number): number {
  let count = 0
  for (let index = start; index < end; index += 1) if (opensMessage(history, index)) count += 1
  return count
}

/** By how many rounds it is told what one takes. */
const ROUNDS_COUNTED = 4

/** What the latest rounds take, in tokens; 0 before the first. */
function latestRounds({ history, originalTokens }: TokenCounts, point: number) {
  const { requestPoints } = history.structure
  const last = countBelow(requestPoints, point)
  const starts = requestPoints.slice(Math.max(0, last - ROUNDS_COUNTED), last)
  if (starts.length === 0) return { mean: 0, least: 0 }
  let least = Infinity
  for (const [order, start] of starts.entries())
    least = Math.min(least, originalTokens(start, starts[order + 1] ?? point))
  return { mean: originalTokens(starts[0] ?? point, point) / starts.length, least }
}
