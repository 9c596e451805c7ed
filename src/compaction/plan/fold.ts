import type { Steps } from '../../conversation/source.ts'
import { clipsByIndex } from '../layout.ts'
import { weighed, type Draft, type Plan } from './draft.ts'
import { foldTurns, type TurnsChoice, type TurnsFold } from './fold-turns.ts'
import { chooseFrontier } from './frontier.ts'
import { hasLimit, isOverLimit, lengthOf } from './limit.ts'
import { treated } from './treat.ts'

/** The fold of a profile with a limit: whole turns. */
export function* foldedByTurns(
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
export function* folded(plan: Plan, draft: Draft, aimTokens: number): Steps<Draft> {
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

// --- internal ---

/** Less than this that was cleared or previewed needs no recap to be told in. */
const TOLD_TOKENS_MIN = 1024

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
