import type { Steps } from '../conversation/source.ts'
import { thresholdTokens } from '../pressure/pressure.ts'
import { targetOf, triggerOf } from '../profiles/thresholds.ts'
import { plannedTokens, UNTOUCHED } from './layout.ts'
import type { Ledger } from './ledger.ts'
import { pinnedTokens, pinsAt, protectedStart, type Pins } from './pins.ts'
import type { Policy, Room } from './policy.ts'
import type { Fold, Stride, StrideReason } from './stride.ts'
import type { Subject } from './subject.ts'

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

/** What a stride is planned within: what it starts from, what is fixed, and how far down it is to come. */
export type PlanFrame = {
  readonly pins: Pins
  /** The stride so far. */
  readonly before: Stride | typeof UNTOUCHED
  readonly beforeTokens: number
  /** What no stride takes away: it surrounds the conversation, or is pinned. */
  readonly fixedTokens: number
  readonly targetTokens: number
  readonly triggerTokens: number
  /** How much the view will grow until the stride is due, where that is only planned. */
  readonly aheadTokens: number
  /** What the view may weigh in the end. */
  readonly allowedTokens: number
  readonly mustFit: boolean
  /** Whether the stride is made however little it frees. */
  readonly demanded: boolean
  /** Whether a stride is made because there are too many messages, not because they are too large. */
  readonly isByLength: boolean
  /** Where the protected tail begins. */
  readonly protectedFrom: number
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
  const { point, room, reason } = options
  const pins = pinsAt(subject, policy, point)
  const fixedTokens = room.aroundTokens + pinnedTokens(subject, pins)
  const before = options.previous ?? UNTOUCHED
  const { systemCount } = subject.structure
  const beforeTokens = room.aroundTokens + (yield* plannedTokens(ledger, before, systemCount, point))
  const thresholdOf = (at: number | null): number =>
    thresholdTokens(at ?? triggerOf(policy), room.budgetTokens, fixedTokens)
  const targetTokens = goalOf(policy, options, beforeTokens, fixedTokens)
  const triggerTokens = Math.max(targetTokens, thresholdOf(null))
  // Planned ahead, a stride frees now what it has to free when the view has grown up to the trigger.
  const aheadTokens = options.plannedTokensMax === null ? 0 : Math.max(0, triggerTokens - beforeTokens)
  const allowedTokens = room.budgetTokens + room.slackTokens
  const mustFit = options.isBeyondBudget || beforeTokens > allowedTokens
  const demanded = mustFit || reason === 'forced' || reason === 'overflow'
  const isByLength = reason === 'limit'
  return {
    pins,
    before,
    beforeTokens,
    fixedTokens,
    targetTokens,
    triggerTokens,
    aheadTokens,
    allowedTokens,
    mustFit,
    demanded,
    isByLength,
    protectedFrom: protectedStart(subject, ledger, pins, {
      point,
      keepRecent: options.keepRecent,
      tokensMax: (targetTokens - fixedTokens) / 2,
    }),
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

/** A stride that would free less waits until the budget forces it. */
export function savingsMinTokens(room: Room): number {
  return Math.max(SAVINGS_MIN_TOKENS, Math.floor(room.budgetTokens * SAVINGS_MIN_SHARE))
}

// --- internal ---

const SAVINGS_MIN_TOKENS = 1024
const SAVINGS_MIN_SHARE = 0.1

/** How far a stride goes, in tokens of the whole prompt. One that was asked for goes as far below where it begins. */
function goalOf(policy: Policy, options: PlanOptions, beforeTokens: number, fixedTokens: number): number {
  if (options.smallest) return 0
  const setting = targetOf(policy)
  const target = thresholdTokens(setting, options.room.budgetTokens, fixedTokens)
  if (!isAskedFor(options.reason)) return target
  const share = setting > 1 ? setting / options.room.budgetTokens : setting
  return Math.min(target, Math.floor(fixedTokens + share * (beforeTokens - fixedTokens)))
}
