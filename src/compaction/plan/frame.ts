import type { Steps } from '../../conversation/source.ts'
import { thresholdTokens } from '../../tokens/budget.ts'
import { targetOf, triggerOf } from '../../profiles/effective.ts'
import { plannedTokens, UNTOUCHED } from '../layout.ts'
import type { Ledger } from '../ledger.ts'
import type { Policy, Room } from '../policy.ts'
import type { Compaction } from '../compaction.ts'
import type { Subject } from '../subject.ts'
import { hasLimit } from './limit.ts'
import { newestOf, type Newest } from './newest.ts'
import { isAskedFor, type PlanOptions } from './options.ts'
import { partsAt, type Parts } from './parts.ts'
import { pinsAt, type Pins } from './pins.ts'
import { sharesOf, type PartSizes, type Shares } from './shares.ts'

/** What a compaction is planned within: what it starts from, what each part has a right to, and how far down it is to come. */
export type PlanFrame = Newest & {
  readonly pins: Pins
  readonly parts: Parts
  readonly shares: Shares
  /** What the budget leaves beside system messages and tools, in tokens; at least 0. */
  readonly roomTokens: number
  /** The compaction so far. */
  readonly before: Compaction | typeof UNTOUCHED
  readonly beforeTokens: number
  /** What no compaction takes away, by its share: it surrounds the conversation, or is pinned. */
  readonly fixedTokens: number
  readonly targetTokens: number
  readonly triggerTokens: number
  /** How much the view will grow until the compaction is due, where that is only planned. */
  readonly aheadTokens: number
  readonly mustFit: boolean
  /** Whether the compaction is made however little it frees. */
  readonly demanded: boolean
  /** Whether a compaction is made because there are too many messages, not because they are too large. */
  readonly isByLength: boolean
  /** Whether the profile says itself how much stays: by a limit, or by a target of its own that can be reached. */
  readonly saysItself: boolean
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
  const wholeShares = sharesOf(roomTokens, parts.sizes)
  const divided =
    isAskedFor(reason) && !mustFit
      ? sharesBeside(dividedTokens, parts.sizes)
      : sharesOf(dividedTokens, parts.sizes)
  // What a user asked for keeps its share of the whole room, however little of that is taken now.
  const shares = {
    ...divided,
    task: Math.max(divided.task, wholeShares.sure.task),
    latestUser: Math.max(divided.latestUser, wholeShares.sure.latestUser),
  }
  const fixedTokens =
    room.aroundTokens + parts.systemTokens + shares.task + shares.latestUser + parts.sizes.newestUser
  const thresholdOf = (at: number | null): number =>
    thresholdTokens(at ?? triggerOf(policy), room.budgetTokens, fixedTokens)
  // A profile with a limit, or with a target of its own and room to reach it, says itself how much of them stays.
  const saysItself = hasLimit(policy) || (policy.target !== null && !mustFit)
  const freeTokens = thresholdOf(null) - fixedTokens
  const newest = yield* newestOf(subject, ledger, {
    plan: options,
    pins,
    parts,
    shares,
    wholeShares,
    roomTokens,
    freeTokens,
    saysItself,
  })
  const { roundsTokens } = newest
  const goalTokens =
    roundsTokens === null
      ? thresholdOf(null)
      : Math.min(goalOf(policy, options, beforeTokens, fixedTokens), thresholdOf(null) - roundsTokens)
  const targetTokens = smallest ? 0 : goalTokens
  const triggerTokens = Math.max(targetTokens, thresholdOf(null))
  // Planned ahead, a compaction frees now what it has to free when the view has grown up to the trigger.
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
    ...newest,
    thresholdOf,
    // What is too long and not too large needs no pass but the fold.
    runs: (at) =>
      demanded || isAskedFor(reason) || (!isByLength && beforeTokens + aheadTokens >= thresholdOf(at)),
  }
}

/** A compaction by pressure that would free less waits until the budget forces it. */
export function savingsMinTokens(room: Room): number {
  return Math.max(SAVINGS_MIN_TOKENS, Math.floor(room.budgetTokens * SAVINGS_MIN_SHARE))
}

// --- internal ---

/** The shares of what there is beside task and latest user message: nobody needs their room while all of it fits. */
function sharesBeside(roomTokens: number, sizes: PartSizes): Shares {
  const { task, latestUser } = sizes
  const others = sharesOf(roomTokens - task - latestUser, { ...sizes, task: 0, latestUser: 0 })
  return { ...others, task, latestUser, sure: { ...others.sure, task, latestUser } }
}

const SAVINGS_MIN_TOKENS = 1024
const SAVINGS_MIN_SHARE = 0.1

/** How far a compaction goes, in tokens of the whole prompt. One that was asked for goes as far below where it begins. */
function goalOf(policy: Policy, options: PlanOptions, beforeTokens: number, fixedTokens: number): number {
  const setting = targetOf(policy)
  const target = thresholdTokens(setting, options.room.budgetTokens, fixedTokens)
  if (!isAskedFor(options.reason)) return target
  const share = setting > 1 ? setting / options.room.budgetTokens : setting
  return Math.min(target, Math.floor(fixedTokens + share * (beforeTokens - fixedTokens)))
}
