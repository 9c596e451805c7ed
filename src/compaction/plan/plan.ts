import type { Steps } from '../../conversation/source.ts'
import { folding, type FoldAt } from './folding.ts'
import { foldOverLimit, foldTurns, type TurnsChoice, type TurnsFold } from './fold-turns.ts'
import { cutUnit } from './cut-unit.ts'
import { chooseFrontier } from './frontier.ts'
import { clipsByIndex, plannedTokens } from '../layout.ts'
import type { Ledger } from '../ledger.ts'
import { hasLimit, isOverLimit, lengthOf } from './limit.ts'
import { planClips } from './clip-to-fit.ts'
import { isPinned, pinnedClips, standingClips, withSpare } from './pinned-clips.ts'
import {
  frameOf,
  isAskedFor,
  savingsMinTokens,
  type PlanFrame,
  type PlanOptions,
  type PreparedFold,
} from './frame.ts'
import type { Policy } from '../policy.ts'
import { passEnd, reachFor, treatingPasses } from './reach.ts'
import { recapCaps } from './recap-caps.ts'
import { RECAP_TOKENS_MIN } from '../recap/recap.ts'
import { FOLD_VERSION, type Fold, type Reach, type Stride } from '../stride.ts'
import type { Subject } from '../subject.ts'
import { hasUnsummarised } from '../summary-ranges.ts'

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
  const { point, room, reason, prepared, plannedTokensMax } = options
  const frame = yield* frameOf(subject, ledger, policy, options)
  const { pins, before, beforeTokens, demanded, isByLength, recentFrom, recentTokens, targetTokens } = frame
  const turnsChoice = { before, pins, point, protectedFrom: recentFrom, strict: options.strict }
  const overLimit = isByLength ? yield* foldOverLimit(subject, policy, turnsChoice) : null
  if (isByLength && overLimit === null) return null

  if (isByPressure(frame, reason)) {
    if (beforeTokens - frame.fixedTokens - recentTokens < savingsMinTokens(room)) return null
  }
  const caps = recapCaps(policy, {
    shares: frame.shares,
    roomTokens: frame.roomTokens,
    leftTokens:
      targetTokens - frame.fixedTokens - recentTokens - frame.calls.tokens - (frame.cutUnit?.tokensMax ?? 0),
    targetTokens,
    smallest: options.smallest,
  })
  // Asked for or not, nothing is folded without a trace while there is room.
  const isSpare = (isAskedFor(reason) || isByLength) && !frame.mustFit
  if (isSpare && caps.recapTokensMax < RECAP_TOKENS_MIN) return null

  const foldAt = folding(subject, ledger, {
    pins,
    caps,
    previous: options.previous,
    summaries: options.smallest ? [] : ((prepared ?? before.fold)?.summaries ?? []),
    recapsBeside: policy.recap.beside_summaries,
    plannedTokensMax,
  })
  // Recaps are made anew: pins may have moved behind the frontier, and there may be more room than there was.
  const standing = furthest(before.fold, prepared)
  let plan: Plan = {
    subject,
    ledger,
    policy,
    options,
    frame,
    foldAt,
    clips: standingClips(frame),
    protectedFrom: frame.cutUnit?.from ?? recentFrom,
    recapTokensMax: caps.recapTokensMax,
  }
  let draft = yield* weighed(plan, {
    reach: before.reach,
    fold: standing === null ? null : foldAt(standing.frontier, options.smallest ? [] : standing.kept),
  })
  // What was prepared was planned for a view that grew by less or more: half of the way down is good enough. Where its
  // summaries alone would free too little to be a stride, more is folded.
  const worthTokens = beforeTokens - savingsMinTokens(room)
  const enoughTokens = Math.min((targetTokens + frame.triggerTokens) / 2, worthTokens)
  const isPrepared = prepared !== null && draft.tokens <= enoughTokens
  const goalTokens = Math.min(targetTokens - frame.aheadTokens, prepared === null ? Infinity : worthTokens)
  const aimTokens = isPrepared ? draft.tokens : goalTokens

  draft = yield* treated(plan, draft, aimTokens)
  draft = yield* foldedByTurns(plan, draft, aimTokens, turnsChoice, overLimit)
  // A recap can weigh as much as what it replaces, and its frame on top: nothing is cut for that.
  if (isByLength && !demanded && draft.tokens > room.budgetTokens) return null
  if (draft.tokens > aimTokens) {
    const cut = yield* cutUnit(subject, ledger, frame, { reach: draft.reach, clips: plan.clips })
    const isUnprotected = cut.protectedFrom > plan.protectedFrom
    plan = { ...plan, clips: [...cut.clips, ...pinnedClips(frame)], protectedFrom: cut.protectedFrom }
    draft = yield* weighed(plan, draft)
    if (isUnprotected) draft = yield* treated(plan, draft, aimTokens)
  }
  draft = yield* folded(plan, draft, aimTokens)
  if (plannedTokensMax === null && !options.smallest) {
    plan = { ...plan, clips: withSpare(frame, plan.clips, aimTokens - draft.tokens) }
    draft = yield* weighed(plan, draft)
  }

  if (plannedTokensMax !== null) {
    const { systemCount } = subject.structure
    const isFurther = draft.fold !== null && draft.fold.frontier > (before.fold?.frontier ?? systemCount)
    // Where a recap stands, a summary in its place may be all that it takes.
    return isFurther || hasUnsummarised(before, systemCount) ? strideOf(plan, draft, plan.clips) : null
  }
  const { clips, ...clipped } = yield* clippedToFit(plan, draft)
  if (isByLength && !demanded) return strideOf(plan, clipped, clips)
  if (isByPressure(frame, reason) && beforeTokens - clipped.tokens < savingsMinTokens(room)) return null
  return clipped.tokens >= beforeTokens ? null : strideOf(plan, clipped, clips)
}

// --- internal ---

/** Less than this that was cleared or previewed needs no recap to be told in. */
const TOLD_TOKENS_MIN = 1024

/** What a stride is planned with, from beginning to end. */
type Plan = {
  readonly subject: Subject
  readonly ledger: Ledger
  readonly policy: Policy
  readonly options: PlanOptions
  readonly frame: PlanFrame
  readonly foldAt: FoldAt
  readonly clips: Stride['clips']
  /** Where the newest messages begin that no pass touches and no fold reaches. */
  readonly protectedFrom: number
  /** What a recap may take, in tokens. */
  readonly recapTokensMax: number
}

/** How far it has come. */
type Draft = {
  readonly reach: Reach
  readonly fold: Fold | null
  /** What its view weighs, what surrounds it included. */
  readonly tokens: number
}

function* weighed(plan: Plan, { reach, fold }: Omit<Draft, 'tokens'>): Steps<Draft> {
  const { subject, ledger, options, frame, clips } = plan
  const { systemCount } = subject.structure
  const planned = { ...frame.pins, fold, clips, reach }
  const tokens =
    options.room.aroundTokens + (yield* plannedTokens(ledger, planned, systemCount, options.point))
  return { reach, fold, tokens }
}

/** The passes that treat single messages, each as far as it has to reach. */
function* treated(
  plan: Plan,
  begun: Draft,
  aimTokens: number,
  keptResults = plan.policy.clear.keep_results,
): Steps<Draft> {
  const { subject, ledger, policy, options, frame, clips, protectedFrom } = plan
  let draft = begun
  for (const pass of treatingPasses) {
    const settings = policy[pass]
    if (('enabled' in settings && !settings.enabled) || !frame.runs(settings.at)) continue
    // A pass that begins below the target has nothing to aim at but its whole reach.
    const isAhead = settings.at !== null && frame.thresholdOf(settings.at) <= frame.targetTokens
    const goalTokens = isAhead ? 0 : aimTokens
    if (draft.tokens <= goalTokens) continue
    const keepResults = pass === 'clear' && !options.smallest ? keptResults : 0
    const start = draft.fold?.frontier ?? subject.structure.systemCount
    const { point } = options
    const reach = yield* reachFor(ledger, pass, {
      reach: draft.reach,
      clips,
      start,
      end: passEnd(subject, { start, point, protectedFrom }, keepResults),
      tokens: draft.tokens,
      goalTokens,
    })
    draft = yield* weighed(plan, { reach, fold: draft.fold })
  }
  return draft
}

/** The fold of a profile with a limit: whole turns. */
function* foldedByTurns(
  plan: Plan,
  draft: Draft,
  aimTokens: number,
  choice: TurnsChoice,
  overLimit: TurnsFold | null,
): Steps<Draft> {
  const { subject, policy, options, frame, foldAt } = plan
  const { reach, fold } = draft
  if (!hasLimit(policy) || options.smallest) return draft
  const isTooLarge = frame.runs(policy.fold.at) && draft.tokens > aimTokens
  const isSmallEnough = function* isSmallEnough({ frontier, kept }: TurnsFold): Steps<boolean> {
    if (!isTooLarge) return true
    return (yield* weighed(plan, { reach, fold: foldAt(frontier, kept) })).tokens <= aimTokens
  }
  const length = lengthOf(subject.structure, { ...frame.pins, fold }, options.point)
  const isDue = isTooLarge || isOverLimit(policy, length)
  const turnsFold = overLimit ?? (isDue ? yield* foldTurns(subject, policy, choice, isSmallEnough) : null)
  if (turnsFold === null) return draft
  return yield* weighed(plan, { reach, fold: foldAt(turnsFold.frontier, turnsFold.kept) })
}

/**
 * The fold of any other profile. Before calls go that are to be seen, the results go that a profile keeps uncleared: calls
 * are the last to go.
 */
function* folded(plan: Plan, draft: Draft, aimTokens: number): Steps<Draft> {
  const first = yield* foldedAtFrontier(plan, draft, aimTokens)
  const frontier = first.fold?.frontier ?? 0
  // A summary tells what calls did and what came of them.
  if (plan.options.plannedTokensMax !== null) return first
  if (frontier <= plan.frame.calls.from || first.fold === draft.fold) return first
  const cleared = yield* treated(plan, draft, aimTokens - plan.recapTokensMax, 0)
  if (cleared.tokens === draft.tokens) return first
  const without = yield* foldedAtFrontier(plan, cleared, aimTokens, true)
  return (without.fold?.frontier ?? 0) < frontier ? without : first
}

/** What turns were not enough for, or a profile without a limit. */
function* foldedAtFrontier(plan: Plan, draft: Draft, aimTokens: number, isToldWhole = false): Steps<Draft> {
  const { subject, ledger, policy, options, frame, foldAt, clips, protectedFrom } = plan
  const { structure } = subject
  const { reach, fold } = draft
  if (!frame.runs(policy.fold.at)) return draft
  const shortenedTokens = yield* lostTokens(plan, draft)
  const isEnough = draft.tokens <= aimTokens
  // What results said that were cleared stands nowhere else: a recap tells it, and takes a fold to stand for.
  const isUntold = shortenedTokens >= TOLD_TOKENS_MIN
  if (isEnough && !isUntold) return draft
  // Where clearing was enough, the recap takes what it leaves free, so that hardly anything is folded for it.
  const leastTokens = frame.saysItself ? TOLD_TOKENS_MIN : frame.shares.recapMin
  const freeTokens = Math.max(leastTokens, aimTokens - draft.tokens)
  const toldTokens = isEnough && !isToldWhole ? Math.min(shortenedTokens, freeTokens) : shortenedTokens
  if (isEnough && fold !== null) return yield* told(plan, draft, toldTokens, aimTokens)
  const frontier = yield* chooseFrontier(subject, ledger, {
    pins: frame.pins,
    reach,
    clips,
    foldAt: (cut) => foldAt(cut, [], toldTokens),
    targetTokens: aimTokens - options.room.aroundTokens,
    point: options.point,
    protectedFrom,
    openFrom: structure.lastUnitStart(options.point),
    after: fold?.frontier ?? structure.systemCount,
    strict: options.strict,
  })
  return frontier === null ? draft : yield* weighed(plan, { reach, fold: foldAt(frontier, [], toldTokens) })
}

/** The same fold, whose recap tells what was shortened behind it, too, as far as the aim leaves room. */
function* told(plan: Plan, draft: Draft, toldTokens: number, aimTokens: number): Steps<Draft> {
  const { fold, reach } = draft
  if (fold === null || plan.options.plannedTokensMax !== null) return draft
  const whole = yield* weighed(plan, { reach, fold: plan.foldAt(fold.frontier, fold.kept, toldTokens) })
  const overTokens = Math.max(0, whole.tokens - aimTokens)
  if (overTokens === 0 || whole.fold === null) return whole
  const { beforeTokensMax, afterTokensMax } = whole.fold
  // What lies behind the frontier is told by the recap nearest to it.
  const shorter =
    afterTokensMax > 0
      ? { ...whole.fold, afterTokensMax: afterTokensMax - overTokens }
      : { ...whole.fold, beforeTokensMax: beforeTokensMax - overTokens }
  const isLonger =
    shorter.beforeTokensMax >= fold.beforeTokensMax && shorter.afterTokensMax >= fold.afterTokensMax
  return isLonger ? yield* weighed(plan, { reach, fold: shorter }) : draft
}

/** What clearing and previews have taken from the messages that are not folded. */
function* lostTokens(
  { subject, ledger, options, clips }: Plan,
  { reach, fold }: Pick<Draft, 'reach' | 'fold'>,
): Steps<number> {
  const known = clipsByIndex(clips)
  const start = fold?.frontier ?? subject.structure.systemCount
  let lost = 0
  for (let index = start; index < Math.min(options.point, Math.max(reach.clear, reach.preview)); index += 1) {
    const { kind } = ledger.treatment(index, reach, known)
    if (kind !== 'cleared' && kind !== 'previewed') continue
    const left = yield* ledger.treatedTokens(index, index + 1, reach, known)
    lost += ledger.originalTokens(index, index + 1) - left
  }
  return lost
}

/** What still does not fit is clipped. */
function* clippedToFit(plan: Plan, draft: Draft): Steps<Draft & Pick<Stride, 'clips'>> {
  const { subject, ledger, policy, options, frame } = plan
  const { reach, fold, tokens } = draft
  const { budgetTokens, aroundTokens } = options.room
  const clips = plan.clips.filter(
    ({ index }) =>
      fold === null || index >= fold.frontier || fold.kept.includes(index) || isPinned(frame, index),
  )
  if (tokens <= budgetTokens) return { ...draft, clips }
  const planned = yield* planClips(subject, ledger, {
    pins: frame.pins,
    parts: frame.parts,
    shares: frame.shares,
    fold,
    reach,
    clips,
    point: options.point,
    roomTokens: budgetTokens - Math.floor(budgetTokens * COUNT_DOUBT_SHARE) - aroundTokens,
    recapTokensMax: policy.recap.max_tokens,
    clipsNewestUser: policy.clip.newest_user,
    strict: options.strict,
  })
  return { reach, fold: planned.fold, tokens: aroundTokens + planned.tokens, clips: planned.clips }
}

/** What is cut to fit stays this far below the budget: a count of what was never sent may be off by as much. */
const COUNT_DOUBT_SHARE = 0.005

/** Whether nothing but the size of the view asks for a stride, and it would still fit. */
function isByPressure({ demanded, isByLength }: PlanFrame, reason: PlanOptions['reason']): boolean {
  return !demanded && !isByLength && !isAskedFor(reason)
}

function strideOf(
  { options, frame }: Plan,
  { reach, fold }: Pick<Draft, 'reach' | 'fold'>,
  clips: Stride['clips'],
): Stride {
  const { point, reason } = options
  return { version: FOLD_VERSION, reason, point, ...frame.pins, reach, fold, clips }
}

/** The fold that reaches further; null where there is none. */
function furthest(standing: Fold | null, prepared: PreparedFold | null): PreparedFold | null {
  if (standing === null || prepared === null) return standing ?? prepared
  return prepared.frontier > standing.frontier ? prepared : standing
}
