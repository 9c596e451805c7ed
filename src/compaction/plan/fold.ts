import type { Steps } from '../../conversation/source.ts'
import { editsOf } from '../edits.ts'
import { countedDraft, editedFurther, type Draft } from './draft.ts'
import { foldAt, type FoldPlan } from './fold-at.ts'
import { runs, type Frame } from './frame.ts'
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

/**
 * The fold of any other profile. Before calls go that are to be seen, the results go that a profile keeps uncleared: calls
 * are the last to go.
 */
export function* folded(plan: FoldPlan, draft: Draft, aimTokens: number): Steps<Draft> {
  const { frame, caps } = plan
  const first = yield* foldedAtFrontier(plan, draft, aimTokens, false)
  const frontier = first.fold?.frontier ?? 0
  // A summary tells what calls did and what came of them.
  if (frame.options.plannedTokensMax !== null) return first
  if (frontier <= frame.calls.from || first.fold === draft.fold) return first
  const cleared = yield* editedFurther(frame, draft, aimTokens - caps.recapTokensMax, 0)
  if (cleared.tokens === draft.tokens) return first
  const without = yield* foldedAtFrontier(plan, cleared, aimTokens, true)
  return (without.fold?.frontier ?? 0) < frontier ? without : first
}

// --- internal ---

/** Less than this that was cleared or previewed needs no recap to be told in. */
const TOLD_TOKENS_MIN = 1024

/** What turns were not enough for, or a profile without a limit. */
function* foldedAtFrontier(
  plan: FoldPlan,
  draft: Draft,
  aimTokens: number,
  isToldWhole: boolean,
): Steps<Draft> {
  const { frame } = plan
  if (!runs(frame, frame.counts.policy.fold.at)) return draft
  const shortenedTokens = yield* lostTokens(frame, draft)
  const isEnough = draft.tokens <= aimTokens
  // What results said that were cleared stands nowhere else: a recap tells it, and takes a fold to stand for.
  const isUntold = shortenedTokens >= TOLD_TOKENS_MIN
  if (isEnough && !isUntold) return draft
  // If clearing was enough, the recap takes what it leaves free, so that hardly anything is folded for it.
  const leastTokens = frame.saysItself ? TOLD_TOKENS_MIN : frame.shares.recapMin
  const freeTokens = Math.max(leastTokens, aimTokens - draft.tokens)
  const toldTokens = isEnough && !isToldWhole ? Math.min(shortenedTokens, freeTokens) : shortenedTokens
  if (isEnough && draft.fold !== null) return yield* told(plan, draft, toldTokens, aimTokens)
  const frontier = yield* chooseFrontier(plan, draft, toldTokens, aimTokens)
  if (frontier === null) return draft
  return yield* countedDraft(frame, { ...draft, fold: foldAt(plan, frontier, [], toldTokens) })
}

/** The same fold, whose recap tells what was shortened behind it, too, as far as the aim leaves room. */
function* told(plan: FoldPlan, draft: Draft, toldTokens: number, aimTokens: number): Steps<Draft> {
  const { frame } = plan
  const { fold } = draft
  if (fold === null || frame.options.plannedTokensMax !== null) return draft
  const longer = foldAt(plan, fold.frontier, fold.kept, toldTokens)
  const whole = yield* countedDraft(frame, { ...draft, fold: longer })
  const overTokens = Math.max(0, whole.tokens - aimTokens)
  if (overTokens === 0) return whole
  // What lies behind the frontier is told by the recap nearest to it.
  const nearest = longer.afterTokensMax > 0 ? 'afterTokensMax' : 'beforeTokensMax'
  const shorter = { ...longer, [nearest]: longer[nearest] - overTokens }
  const isLonger =
    shorter.beforeTokensMax >= fold.beforeTokensMax && shorter.afterTokensMax >= fold.afterTokensMax
  return isLonger ? yield* countedDraft(frame, { ...draft, fold: shorter }) : draft
}

/** What clearing and previews have taken from the messages that are not folded. */
function* lostTokens({ counts, options }: Frame, draft: Draft): Steps<number> {
  const { subject, editOf, editedTokens } = counts
  const edits = editsOf(draft)
  const { clear, preview } = draft.reach
  const end = Math.min(options.point, Math.max(clear, preview))
  let lost = 0
  for (let index = draft.fold?.frontier ?? subject.structure.systemCount; index < end; index += 1) {
    const { kind } = editOf(index, edits)
    if (kind !== 'cleared' && kind !== 'previewed') continue
    lost += (subject.sizes[index] ?? 0) - (yield* editedTokens(index, index + 1, edits))
  }
  return lost
}
