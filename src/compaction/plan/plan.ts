import type { Steps } from '../../conversation/source.ts'
import { FOLD_VERSION, type Compaction } from '../compaction.ts'
import { hasUnsummarised } from '../layout.ts'
import { RECAP_TOKENS_MIN } from '../recap/recap.ts'
import type { TokenCounts } from '../token-counts.ts'
import { clippedToFit } from './clip-to-fit.ts'
import { pinnedClips, withCutUnit, withSpare } from './clips.ts'
import { countedDraft, editedFurther, type Draft } from './draft.ts'
import { foldAt, recapCaps } from './fold-at.ts'
import { folded, foldedByTurns } from './fold.ts'
import { frameOf, isPinned } from './frame.ts'
import type { PlanOptions } from './options.ts'
import { ascending, newestThoughts } from '../thoughts.ts'
import { heldThoughts } from './thoughts.ts'
import { foldOverLimit } from './turns.ts'

/**
 * The next compaction at a request point: the passes, cheapest first, until the view is at or below the
 * target; null where it would free too little to be worth a cache miss and nothing forces it.
 */
export function* planCompaction(counts: TokenCounts, options: PlanOptions): Steps<Compaction | null> {
  const { subject, policy } = counts
  const { point, room, reason, prepared, smallest, plannedTokensMax } = options
  const frame = yield* frameOf(counts, options)
  const { pins, before, beforeTokens, targetTokens, recentFrom, recentTokens, isByPressure } = frame
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

  const standingSummaries = (prepared ?? before.fold)?.summaries ?? []
  const summaries = smallest ? [] : standingSummaries
  const plan = { frame, caps, summaries }
  const planned = ({ reach, fold, clips, thoughts }: Draft): Compaction => {
    return { version: FOLD_VERSION, reason, point, ...pins, reach, fold, clips, thoughts }
  }
  // Recaps are made anew: pins may have moved behind the frontier, and there may be more room than there was.
  const isFurther = prepared !== null && prepared.frontier > (before.fold?.frontier ?? -1)
  const standing = isFurther ? prepared : before.fold
  const demanded = subject.keepsNewestThoughts === true ? newestThoughts(subject, point) : []
  let draft = yield* countedDraft(frame, {
    point,
    reach: before.reach,
    fold: standing === null ? null : foldAt(plan, standing.frontier, smallest ? [] : standing.kept),
    // What was clipped before stays clipped; what is pinned now is clipped again only where that is needed.
    clips: before.clips.filter(({ index }) => !isPinned(pins, index)),
    thoughts: demanded,
    protectedFrom: frame.cutUnit?.from ?? recentFrom,
  })
  // What was prepared was planned for a view that grew by less or more: half of the way down is good enough. If its
  // summaries alone would free too little to be a compaction, more is folded.
  const enoughTokens = Math.min((targetTokens + frame.triggerTokens) / 2, worthTokens)
  const isPrepared = prepared !== null && draft.tokens <= enoughTokens
  // Thresholds are shares of the budget, and what is aimed for decides what a record says: in whole tokens.
  const goalTokens = Math.floor(
    Math.min(targetTokens - frame.aheadTokens, prepared === null ? Infinity : worthTokens),
  )
  const aimTokens = isPrepared ? draft.tokens : goalTokens

  const keptResults = policy.clear.keep_results
  draft = yield* editedFurther(frame, draft, aimTokens, keptResults)
  draft = yield* foldedByTurns(plan, draft, aimTokens, overLimit)
  // A recap can take as much as what it replaces, and its frame on top: nothing is cut for that.
  if (isByLength && !frame.demanded && draft.tokens > room.budgetTokens) return null
  if (draft.tokens > aimTokens) {
    const cut = yield* withCutUnit(frame, draft)
    const isUnprotected = cut.protectedFrom > draft.protectedFrom
    draft = yield* countedDraft(frame, { ...cut, clips: [...cut.clips, ...pinnedClips(frame)] })
    if (isUnprotected) draft = yield* editedFurther(frame, draft, aimTokens, keptResults)
  }
  draft = yield* folded(plan, draft, aimTokens)
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
    // If a recap stands, a summary in its place may be all that it takes.
    if (!foldsMore && !hasUnsummarised(before, systemCount)) return null
  }
  return planned(draft)
}

// --- internal ---

const SAVINGS_MIN_TOKENS = 1024
const SAVINGS_MIN_SHARE = 0.1
