import type { Steps } from '../conversation/source.ts'
import { thresholdTokens } from '../pressure/pressure.ts'
import { targetOf, triggerOf } from '../profiles/thresholds.ts'
import { folding } from './folding.ts'
import { foldOverLimit, foldTurns, type TurnsFold } from './fold-turns.ts'
import { chooseFrontier } from './frontier.ts'
import { plannedTokens, UNTOUCHED } from './layout.ts'
import type { Ledger } from './ledger.ts'
import { hasLimit, isOverLimit, lengthOf } from './limit.ts'
import { pinnedTokens, pinsAt, protectedStart } from './pins.ts'
import { planClips } from './plan-clips.ts'
import type { Policy, Room } from './policy.ts'
import { passEnd, reachFor, treatingPasses } from './reach.ts'
import { recapCaps } from './recap-caps.ts'
import { RECAP_TOKENS_MIN } from './recap/recap.ts'
import { FOLD_VERSION, type Fold, type Reach, type Stride, type StrideReason } from './stride.ts'
import type { Subject } from './subject.ts'
import { hasUnsummarised } from './summary-ranges.ts'

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
}

/** A fold that was planned ahead, with the summaries that were written for it. */
export type PreparedFold = Pick<Fold, 'frontier' | 'kept' | 'summaries'>

/**
 * The next stride at a request point: the passes, cheapest first, until the view is at or below the
 * target; null where it would free too little to be worth a cache miss and nothing forces it.
 */
export function* planStride(
  subject: Subject,
  ledger: Ledger,
  policy: Policy,
  options: PlanOptions,
): Steps<Stride | null> {
  const { point, previous, room, reason } = options
  const { structure } = subject
  const systemCount = structure.systemCount
  const pins = pinsAt(subject, policy, point)
  const fixedTokens = room.aroundTokens + pinnedTokens(subject, pins)
  const before = previous ?? UNTOUCHED
  const beforeTokens = room.aroundTokens + (yield* plannedTokens(ledger, before, systemCount, point))
  const targetTokens = goalOf(policy, options, beforeTokens, fixedTokens)
  const triggerTokens = Math.max(
    targetTokens,
    thresholdTokens(triggerOf(policy), room.budgetTokens, fixedTokens),
  )
  const { plannedTokensMax, prepared } = options
  // Planned ahead, a stride frees now what it has to free when the view has grown up to the trigger.
  const aheadTokens = plannedTokensMax === null ? 0 : Math.max(0, triggerTokens - beforeTokens)
  const roomTokens = roomUnderTarget(options, targetTokens, fixedTokens)
  const mustFit = options.isBeyondBudget || beforeTokens > room.budgetTokens + room.slackTokens
  const demanded = mustFit || reason === 'forced' || reason === 'overflow'
  const protectedFrom = protectedStart(subject, ledger, pins, {
    point,
    keepRecent: options.keepRecent,
    tokensMax: (targetTokens - fixedTokens) / 2,
  })

  const turnsChoice = { before, pins, point, protectedFrom, strict: options.strict }
  const isByLength = reason === 'limit'
  const overLimit = isByLength ? yield* foldOverLimit(subject, policy, turnsChoice) : null
  if (isByLength && overLimit === null) return null

  if (!demanded && !isByLength) {
    const freedMost = beforeTokens - fixedTokens - ledger.originalTokens(protectedFrom, point)
    if (freedMost < savingsMinTokens(room)) return null
  }
  // Where passes have no threshold of their own they run with the trigger.
  const thresholdOf = (at: number | null): number =>
    thresholdTokens(at ?? triggerOf(policy), room.budgetTokens, fixedTokens)
  // What is too long and not too large needs no pass but the fold.
  const runs = (at: number | null): boolean =>
    demanded || isAskedFor(reason) || (!isByLength && beforeTokens + aheadTokens >= thresholdOf(at))

  const tailTokens = ledger.originalTokens(protectedFrom, point)
  const caps = recapCaps(policy, { roomTokens, tailTokens, targetTokens, smallest: options.smallest })
  // Asked for or not, nothing is folded without a trace while there is room.
  if ((isAskedFor(reason) || isByLength) && !mustFit && caps.recapTokensMax < RECAP_TOKENS_MIN) return null
  const summaries = options.smallest ? [] : ((prepared ?? before.fold)?.summaries ?? [])
  const foldAt = folding(subject, ledger, {
    pins,
    caps,
    previous,
    summaries,
    recapsBeside: policy.recap.beside_summaries,
    plannedTokensMax,
  })
  let reach: Reach = before.reach
  // Recaps are made anew: pins may have moved behind the frontier, and there may be more room than there was.
  const standing = furthest(before.fold, prepared)
  let fold: Fold | null =
    standing === null ? null : foldAt(standing.frontier, options.smallest ? [] : standing.kept)
  // What was clipped in the tail stays clipped; what is pinned is clipped again only if that is still needed.
  const carried = before.clips.filter((clip) => clip.index !== pins.task && clip.index !== pins.latestUser)
  const weigh = function* weigh(): Steps<number> {
    return (
      room.aroundTokens +
      (yield* plannedTokens(ledger, { ...pins, fold, clips: carried, reach }, systemCount, point))
    )
  }
  let tokens = yield* weigh()
  // What was prepared was planned for a view that grew by less or more: half of the way down is good enough.
  const isPrepared = prepared !== null && tokens <= (targetTokens + triggerTokens) / 2
  const aimTokens = isPrepared ? tokens : targetTokens - aheadTokens

  for (const pass of treatingPasses) {
    const settings = policy[pass]
    if (('enabled' in settings && !settings.enabled) || !runs(settings.at)) continue
    // A pass that begins below the target has nothing to aim at but its whole reach.
    const isAhead = settings.at !== null && thresholdOf(settings.at) <= targetTokens
    const goalTokens = isAhead ? 0 : aimTokens
    if (tokens <= goalTokens) continue
    const keepResults = pass === 'clear' && !options.smallest ? policy.clear.keep_results : 0
    const end = passEnd(subject, point, protectedFrom, keepResults)
    reach = yield* reachFor(ledger, pass, {
      reach,
      clips: carried,
      start: fold?.frontier ?? systemCount,
      end,
      tokens,
      goalTokens,
    })
    tokens = yield* weigh()
  }
  if (hasLimit(policy) && !options.smallest) {
    const isTooLarge = runs(policy.fold.at) && tokens > aimTokens
    const isSmallEnough = function* isSmallEnough({ frontier, kept }: TurnsFold): Steps<boolean> {
      if (!isTooLarge) return true
      const folded = { ...pins, fold: foldAt(frontier, kept), clips: carried, reach }
      const foldedTokens = yield* plannedTokens(ledger, folded, systemCount, point)
      return room.aroundTokens + foldedTokens <= aimTokens
    }
    const isDue = isTooLarge || isOverLimit(policy, lengthOf(structure, { ...pins, fold }, point))
    const turnsFold =
      overLimit ?? (isDue ? yield* foldTurns(subject, policy, turnsChoice, isSmallEnough) : null)
    if (turnsFold !== null) {
      fold = foldAt(turnsFold.frontier, turnsFold.kept)
      tokens = yield* weigh()
    }
  }
  // A recap can weigh as much as what it replaces, and its frame on top: nothing is cut for that.
  if (isByLength && !demanded && tokens > room.budgetTokens + room.slackTokens) return null
  if (runs(policy.fold.at) && tokens > aimTokens) {
    const frontier = yield* chooseFrontier(subject, ledger, {
      pins,
      reach,
      clips: carried,
      foldAt,
      targetTokens: aimTokens - room.aroundTokens,
      point,
      protectedFrom,
      openFrom: structure.lastUnitStart(point),
      after: fold?.frontier ?? systemCount,
      strict: options.strict,
    })
    if (frontier !== null) {
      fold = foldAt(frontier)
      tokens = yield* weigh()
    }
  }

  if (plannedTokensMax !== null) {
    const isFurther = fold !== null && fold.frontier > (before.fold?.frontier ?? systemCount)
    // Where a recap stands, a summary in its place may be all that it takes.
    return isFurther || hasUnsummarised(before, systemCount)
      ? { version: FOLD_VERSION, reason, point, ...pins, reach, fold, clips: carried }
      : null
  }
  let clips: Stride['clips'] = carried.filter(
    ({ index }) => fold === null || index >= fold.frontier || fold.kept.includes(index),
  )
  if (tokens > room.budgetTokens + room.slackTokens) {
    const planned = yield* planClips(subject, ledger, {
      pins,
      fold,
      reach,
      clips,
      point,
      allowedTokens: room.budgetTokens + room.slackTokens - room.aroundTokens,
      recapTokensMax: policy.recap.max_tokens,
      openFrom: structure.lastUnitStart(point),
    })
    clips = planned.clips
    fold = planned.fold
    tokens = room.aroundTokens + planned.tokens
  }

  if (isByLength && !demanded) return { version: FOLD_VERSION, reason, point, ...pins, reach, fold, clips }
  if (!demanded && beforeTokens - tokens < savingsMinTokens(room)) return null
  if (tokens >= beforeTokens) return null
  return { version: FOLD_VERSION, reason, point, ...pins, reach, fold, clips }
}

// --- internal ---

/** The fold that reaches further; null where there is none. */
function furthest(standing: Fold | null, prepared: PreparedFold | null): PreparedFold | null {
  if (standing === null || prepared === null) return standing ?? prepared
  return prepared.frontier > standing.frontier ? prepared : standing
}

/** How far a stride goes, in tokens of the whole prompt. One that was asked for goes as far below where it begins. */
function goalOf(policy: Policy, options: PlanOptions, beforeTokens: number, fixedTokens: number): number {
  if (options.smallest) return 0
  const setting = targetOf(policy)
  const target = thresholdTokens(setting, options.room.budgetTokens, fixedTokens)
  if (!isAskedFor(options.reason)) return target
  const share = setting > 1 ? setting / options.room.budgetTokens : setting
  return Math.min(target, Math.floor(fixedTokens + share * (beforeTokens - fixedTokens)))
}

/** Whether a stride is made for another reason than its size. */
function isAskedFor(reason: StrideReason): boolean {
  return reason === 'forced' || reason === 'every'
}

/** A stride that would free less waits until the budget forces it. */
function savingsMinTokens(room: Room): number {
  return Math.max(SAVINGS_MIN_TOKENS, Math.floor(room.budgetTokens * SAVINGS_MIN_SHARE))
}

const SAVINGS_MIN_TOKENS = 1024
const SAVINGS_MIN_SHARE = 0.1

/** What there is for everything that is not fixed: under the target, or for the smallest form under the budget. */
function roomUnderTarget(options: PlanOptions, targetTokens: number, fixedTokens: number): number {
  return (options.smallest ? options.room.budgetTokens : targetTokens) - fixedTokens
}
