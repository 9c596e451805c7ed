import type { Steps } from '../../json/source.ts'
import { type Compaction, FOLD_VERSION } from '../compaction.ts'
import { hasUnsummarised, UNTOUCHED } from '../layout.ts'
import { RECAP_TOKENS_MIN } from '../recap/recap.ts'
import type { TokenCounts } from '../token-counts.ts'
import { clippedToFit, pinnedClips, withCutUnit, withSpare } from './clip-to-fit.ts'
import { countedDraft, type Draft, recordedIn } from './draft.ts'
import { editedByWorth, editedEnough, putBack } from './edit-by-worth.ts'
import { foldAt, type FoldPlan, recapCaps } from './fold-at.ts'
import { frameOf, isPinned, runs } from './frame.ts'
import { chooseFrontier, foldOverLimit, foldTurns, type TurnsFold } from './frontier.ts'
import { hasLimit, isOverLimit, lengthOf } from './limit.ts'
import type { PlanOptions } from './options.ts'
import { ascending, newestThoughts } from '../thoughts.ts'
import { editsOf, isHeld } from '../edits.ts'
import { hasBoundThoughts } from '../history/subject.ts'
import { standingView } from '../view/view.ts'
import { originalMessage, type ViewMessage } from '../view/view-message.ts'

/**
 * The next compaction at a request point: the passes, those first that cost least of what the next step needs, until the view
 * is at or below the target; null where it would free too little to be worth a cache miss and nothing forces it.
 */
export function* planCompaction(counts: TokenCounts, options: PlanOptions): Steps<Compaction | null> {
  const { subject, policy } = counts
  const { point, room, reason, prepared, smallest, plannedTokensMax } = options
  const frame = yield* frameOf(counts, options)
  const { pins, before, beforeTokens, targetTokens, triggerTokens, recentFrom, recentTokens, isByPressure } =
    frame
  const isByLength = reason === 'limit'
  const overLimit = isByLength ? yield* foldOverLimit(frame) : null
  if (isByLength && overLimit === null) return null

  // A compaction by pressure that would free less waits until the budget forces it.
  const worthTokens =
    beforeTokens - Math.max(SAVINGS_MIN_TOKENS, Math.floor(room.budgetTokens * SAVINGS_MIN_SHARE))
  if (isByPressure && frame.fixedTokens + recentTokens > worthTokens) return null
  const caps = recapCaps(frame)
  // Asked for or not, nothing is folded without a trace while there is room.
  const isSpare = (frame.isAskedFor || isByLength) && !frame.mustFit
  if (isSpare && caps.recapTokensMax < RECAP_TOKENS_MIN) return null

  const standing = before.fold
  const isFurther = prepared !== null && prepared.frontier > (standing?.frontier ?? -1)
  const standingSummaries = (isFurther ? standing : (prepared ?? standing))?.summaries ?? []
  const planned = (draft: Draft): Compaction => {
    return { version: FOLD_VERSION, reason, point, ...pins, ...recordedIn(draft) }
  }
  const demanded = subject.keepsNewestThoughts === true ? newestThoughts(subject, point) : []
  // Recaps are made anew: pins may have moved behind the frontier, and there may be more room than there was.
  const stands = { frame, caps, summaries: smallest ? [] : standingSummaries }
  let draft = yield* countedDraft(frame, {
    point,
    reach: before.reach,
    cleared: before.cleared,
    fold: standing === null ? null : foldAt(stands, standing.frontier, smallest ? [] : standing.kept),
    // What was clipped before stays clipped; what is pinned now is clipped again only where that is needed.
    clips: before.clips.filter(({ index }) => !isPinned(pins, index)),
    thoughts: demanded,
    protectedFrom: frame.cutUnit?.from ?? recentFrom,
  })
  // Thresholds are shares of the budget, and what is aimed for decides what a record says: in whole tokens.
  const goalTokens = Math.floor(targetTokens - frame.aheadTokens)
  // What was prepared was planned for a view that grew by less or more: half of the way down is good enough.
  const halfWayTokens = (targetTokens + triggerTokens) / 2
  let aimTokens = goalTokens
  draft = yield* editedByWorth(frame, draft, aimTokens, policy.clear.keep_results)
  let plan = stands
  let isFolding = runs(frame, policy.fold.at) && draft.tokens > aimTokens && !isByLength
  if (isFolding && reason === 'trigger' && policy.target === null) {
    // A fold takes many of the agent's words and gives a recap of them: where edits are enough none is made. A target of the
    // profile's own is what it says.
    const mostTokens = worthTokens + frame.growthTokens
    const enough = yield* editedEnough(frame, draft, { aimTokens, halfWayTokens, mostTokens })
    if (enough !== null) {
      isFolding = false
      draft = enough
      aimTokens = Math.max(aimTokens, enough.tokens)
    }
  }
  if (isFolding && isFurther && !smallest) {
    plan = { ...stands, summaries: prepared.summaries }
    const fold = foldAt(plan, prepared.frontier, prepared.kept)
    draft = yield* countedDraft(frame, { ...draft, fold })
    // If its summaries alone would free too little to be a compaction, more is folded.
    if (draft.tokens <= Math.min(halfWayTokens, worthTokens)) aimTokens = draft.tokens
    else aimTokens = Math.floor(Math.min(goalTokens, worthTokens))
  }
  draft = yield* foldedByTurns(plan, draft, aimTokens, overLimit)
  // A recap can take as much as what it replaces, and its frame on top: nothing is cut for that.
  if (isByLength && !frame.demanded && draft.tokens > room.budgetTokens) return null
  if (draft.tokens > aimTokens) {
    const cut = yield* withCutUnit(frame, draft)
    draft = yield* countedDraft(frame, { ...cut, clips: [...cut.clips, ...pinnedClips(frame)] })
    if (isFolding) draft = yield* editedByWorth(frame, draft, aimTokens, 0)
  }
  draft = yield* folded(plan, draft, aimTokens)
  draft = yield* putBack(frame, draft, aimTokens)
  if (plannedTokensMax === null) {
    if (!smallest) {
      const clips = withSpare(frame, draft.clips, aimTokens - draft.tokens)
      draft = yield* countedDraft(frame, { ...draft, clips })
    }
    const whole = draft
    draft = yield* clippedToFit(frame, draft)
    const isSmaller = ({ tokens }: Draft): boolean =>
      tokens < beforeTokens && (!isByPressure || tokens <= worthTokens)
    if (!isSmaller(draft) && !(isByLength && !frame.demanded)) return null
    const held = smallest ? [] : yield* heldThoughts(counts, options.previous, planned(draft))
    if (held.length > 0) {
      const thoughts = ascending([...demanded, ...held])
      const other = yield* clippedToFit(frame, yield* countedDraft(frame, { ...whole, thoughts }))
      const still = new Set(yield* heldThoughts(counts, options.previous, planned(other)))
      const isHeldStill = held.every((index) => still.has(index))
      // For thoughts nothing is cut that has a right to be whole.
      const { parts, shares } = frame
      const isNewestLarge = parts.sizes.newestRound > shares.sure.newestRound
      const cut = new Set(draft.clips.map(({ index }) => index))
      const isRightful = isNewestLarge || other.clips.every(({ index }) => cut.has(index))
      if (isHeldStill && isRightful && other.tokens <= room.budgetTokens && isSmaller(other)) draft = other
    }
  } else {
    const { systemCount } = subject.structure
    const foldsMore = (draft.fold?.frontier ?? 0) > (before.fold?.frontier ?? systemCount)
    // Planned too early, a fold would not be enough when its time comes, and another summary be asked for beside it.
    if (!options.isBeyondBudget && draft.tokens + frame.aheadTokens > halfWayTokens) return null
    // If a recap stands, a summary in its place may be all that it takes.
    if (!foldsMore && !hasUnsummarised(before, systemCount)) return null
  }
  return planned(draft)
}

// --- internal ---

const SAVINGS_MIN_TOKENS = 1024
const SAVINGS_MIN_SHARE = 0.1

/** The fold of a profile with a limit: whole turns. */
function* foldedByTurns(
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
function* folded(plan: FoldPlan, draft: Draft, aimTokens: number): Steps<Draft> {
  const { frame } = plan
  if (draft.tokens <= aimTokens || !runs(frame, frame.counts.policy.fold.at)) return draft
  const frontier = yield* chooseFrontier(plan, draft, aimTokens)
  if (frontier === null) return draft
  return yield* countedDraft(frame, { ...draft, fold: foldAt(plan, frontier) })
}

/**
 * The thoughts before a compaction's point that still hold, ascending: they stand under the compaction before it, and nothing
 * before them is sent otherwise than it was. A server that binds thoughts to what stood before them drops all others.
 */
function* heldThoughts(
  counts: TokenCounts,
  previous: Compaction | null,
  planned: Compaction,
): Steps<readonly number[]> {
  const { subject } = counts
  const { point } = planned
  const start = subject.structure.systemCount
  // What is folded further begins before all that is not folded.
  if ((previous?.fold?.frontier ?? start) !== (planned.fold?.frontier ?? start)) return []
  const edits = editsOf(previous ?? UNTOUCHED)
  // With the first one goes what the server's own compaction stands for, too.
  if (previous === null && start > subject.structure.unkeyedCount) return []
  const standing: number[] = []
  for (let index = planned.fold?.frontier ?? start; index < point; index += 1)
    if (areThoughts(counts, index) && isHeld(subject, edits, index)) standing.push(index)
  if (standing.length === 0) return []
  const before: ViewMessage[] = []
  if (previous !== null) before.push(...(yield* standingView(counts, previous)))
  for (let index = previous?.point ?? start; index < point; index += 1)
    before.push(originalMessage(subject, index))
  const after = yield* standingView(counts, { ...planned, thoughts: standing })
  const stands = new Set(standing)
  const held: number[] = []
  for (const [place, message] of after.entries()) {
    if (!isSame(message, before[place])) break
    // A message that stands without its thoughts already does not get them back.
    if (message.index !== null && stands.has(message.index)) held.push(message.index)
  }
  return held
}

function areThoughts({ subject }: TokenCounts, index: number): boolean {
  const message = subject.messages[index]
  return message !== undefined && hasBoundThoughts(message)
}

function isSame({ item }: ViewMessage, other: ViewMessage | undefined): boolean {
  if (item.kind === 'kept') return other?.item.kind === 'kept' && other.item.index === item.index
  return other?.item.kind === 'made' && other.item.json === item.json
}
