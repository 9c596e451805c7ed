import type { Steps } from '../../conversation/source.ts'
import { countedDraft, type Draft } from './draft.ts'
import { foldAt, type FoldPlan } from './fold-at.ts'
import { runs } from './frame.ts'
import { chooseFrontier } from './frontier.ts'
import { hasLimit, isOverLimit, lengthOf } from './limit.ts'
import { foldTurns, type TurnsFold } from './turns.ts'

/** The fold of a profile with a limit: whole turns. */
export function* foldedByTurns(
  plan: FoldPlan,
  draft: Draft,
  aimTokens: number,
  overLimit: TurnsFold | null,
): Steps<Draft> {
  const { frame } = plan
  const { counts, options, pins } = frame
  const { policy, subject } = counts
  if (!hasLimit(policy) || options.smallest) return draft
  const isTooLarge = runs(frame, policy.fold.at) && draft.tokens > aimTokens
  const length = lengthOf(subject.structure, { ...pins, fold: draft.fold }, options.point)
  if (overLimit === null && !isTooLarge && !isOverLimit(policy, length)) return draft
  const isSmallEnough = function* isSmallEnough({ frontier, kept }: TurnsFold): Steps<boolean> {
    return (yield* countedDraft(frame, { ...draft, fold: foldAt(plan, frontier, kept) })).tokens <= aimTokens
  }
  const turnsFold = overLimit ?? (yield* foldTurns(frame, isTooLarge ? isSmallEnough : null))
  if (turnsFold === null) return draft
  return yield* countedDraft(frame, { ...draft, fold: foldAt(plan, turnsFold.frontier, turnsFold.kept) })
}

/** The fold of any other profile: the first frontier at which the view comes down to the aim. */
export function* folded(plan: FoldPlan, draft: Draft, aimTokens: number): Steps<Draft> {
  const { frame } = plan
  if (draft.tokens <= aimTokens || !runs(frame, frame.counts.policy.fold.at)) return draft
  const frontier = yield* chooseFrontier(plan, draft, aimTokens)
  if (frontier === null) return draft
  return yield* countedDraft(frame, { ...draft, fold: foldAt(plan, frontier) })
}
