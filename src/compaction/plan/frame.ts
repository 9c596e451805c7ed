import type { Steps } from '../../conversation/source.ts'
import { targetOf, triggerOf } from '../../profiles/effective.ts'
import { thresholdTokens } from '../../tokens/budget.ts'
import type { Compaction } from '../compaction.ts'
import { mayBeCleared } from '../edits.ts'
import { UNTOUCHED } from '../layout.ts'
import type { Policy, Room } from '../policy.ts'
import { plannedTokens, type TokenCounts } from '../token-counts.ts'
import { openWorkAt, type WorkRoom } from '../../subject/calls/open-work.ts'
import { hasLimit } from './limit.ts'
import type { PlanOptions } from './options.ts'
import { partsAt, pinsAt, type Pins } from './parts.ts'
import { protectedTail, type ProtectedTail, type Rights } from './protected-tail.ts'
import { SHARE, sharesOf, type PartSizes, type Shares } from './shares.ts'

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
