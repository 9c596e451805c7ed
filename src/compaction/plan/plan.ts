import type { Steps } from '../../conversation/source.ts'
import type { Ledger } from '../ledger.ts'
import type { Policy } from '../policy.ts'
import { RECAP_TOKENS_MIN } from '../recap/recap.ts'
import { FOLD_VERSION, type Fold, type Compaction } from '../compaction.ts'
import type { Subject } from '../subject.ts'
import { hasUnsummarised } from '../summary-ranges.ts'
import { planClips } from './clip-to-fit.ts'
import { cutUnit } from './cut-unit.ts'
import { weighed, type Draft, type Plan } from './draft.ts'
import { folded, foldedByTurns } from './fold.ts'
import { foldOverLimit } from './fold-turns.ts'
import { folding } from './fold-at.ts'
import { frameOf, savingsMinTokens, type PlanFrame } from './frame.ts'
import { isAskedFor, type PlanOptions, type PreparedFold } from './options.ts'
import { isPinned, pinnedClips, standingClips, withSpare } from './pinned-clips.ts'
import { recapCaps } from './recap-caps.ts'
import { treated } from './treat.ts'

/**
 * The next compaction at a request point: the passes, cheapest first, until the view is at or below the
 * target; null where it would free too little to be worth a cache miss and nothing forces it.
 */
export function* planCompaction(
  subject: Subject,
  ledger: Ledger,
  policy: Policy,
  options: PlanOptions,
): Steps<Compaction | null> {
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
  // summaries alone would free too little to be a compaction, more is folded.
  const worthTokens = beforeTokens - savingsMinTokens(room)
  const enoughTokens = Math.min((targetTokens + frame.triggerTokens) / 2, worthTokens)
  const isPrepared = prepared !== null && draft.tokens <= enoughTokens
  // Thresholds are shares of the budget, and what is aimed for decides what a record says: in whole tokens.
  const goalTokens = Math.floor(
    Math.min(targetTokens - frame.aheadTokens, prepared === null ? Infinity : worthTokens),
  )
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
    return isFurther || hasUnsummarised(before, systemCount) ? compactionOf(plan, draft, plan.clips) : null
  }
  const { clips, ...clipped } = yield* clippedToFit(plan, draft)
  if (isByLength && !demanded) return compactionOf(plan, clipped, clips)
  if (isByPressure(frame, reason) && beforeTokens - clipped.tokens < savingsMinTokens(room)) return null
  return clipped.tokens >= beforeTokens ? null : compactionOf(plan, clipped, clips)
}

// --- internal ---

/** What still does not fit is clipped. */
function* clippedToFit(plan: Plan, draft: Draft): Steps<Draft & Pick<Compaction, 'clips'>> {
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
    roomTokens: budgetTokens - aroundTokens,
    doubtTokens: Math.floor(budgetTokens * COUNT_DOUBT_SHARE),
    recapTokensMax: policy.recap.max_tokens,
    clipsNewestUser: policy.clip.newest_user,
    strict: options.strict,
  })
  return { reach, fold: planned.fold, tokens: aroundTokens + planned.tokens, clips: planned.clips }
}

/** What is cut to fit stays this far below the budget: a count of what was never sent may be off by as much. */
const COUNT_DOUBT_SHARE = 0.005

/** Whether nothing but the size of the view asks for a compaction, and it would still fit. */
function isByPressure({ demanded, isByLength }: PlanFrame, reason: PlanOptions['reason']): boolean {
  return !demanded && !isByLength && !isAskedFor(reason)
}

function compactionOf(
  { options, frame }: Plan,
  { reach, fold }: Pick<Draft, 'reach' | 'fold'>,
  clips: Compaction['clips'],
): Compaction {
  const { point, reason } = options
  return { version: FOLD_VERSION, reason, point, ...frame.pins, reach, fold, clips }
}

/** The fold that reaches further; null where there is none. */
function furthest(standing: Fold | null, prepared: PreparedFold | null): PreparedFold | null {
  if (standing === null || prepared === null) return standing ?? prepared
  return prepared.frontier > standing.frontier ? prepared : standing
}
