import type { Pausable } from '../../json/source.ts'
import type { Compaction, PreparedFold, StandingSummary } from '../compaction.ts'
import { hasUnsummarised } from '../folded-parts.ts'
import { RECAP_TOKENS_MIN } from '../recap/recap.ts'
import { ascending, heldThoughts, newestThoughts } from '../held-thoughts.ts'
import type { TokenCounts } from '../token-counts.ts'
import { clippedToFit, cutToShares, withSpare } from './clip-to-fit.ts'
import { countedDraft, type Draft, type Frame, frameOf, type PlanOptions, recordOf, runs } from './frame.ts'
import { editedByWorth, editedEnough, putBack } from './edit-by-worth.ts'
import { chooseFrontier, foldAt } from './fold.ts'
import { hasLimit, isOverLimit, lengthOf } from './view-length.ts'
import { isPinned } from './pins.ts'
import { foldOverLimit, foldTurns, type TurnsFold } from './turn-limit.ts'

/**
 * The next compaction at a request point: the passes, those first that cost least of what the next step needs, until the view
 * is at or below the target; null where it would free too little to be worth a cache miss and nothing forces it.
 */
export function* planCompaction(counts: TokenCounts, options: PlanOptions): Pausable<Compaction | null> {
  const frame = yield* frameOf(counts, options)
  const { isByLength, isByPressure, isAskedFor, mustFit, demanded } = frame
  const overLimit = isByLength ? yield* foldOverLimit(frame) : null
  if (isByLength && overLimit === null) return null
  // A compaction by pressure that would free less waits until the budget forces it.
  if (isByPressure && frame.fixedTokens + frame.recentTokens > frame.worthTokens) return null
  // Asked for or not, nothing is folded without a trace while there is room.
  if ((isAskedFor || isByLength) && !mustFit && frame.caps.recapTokensMax < RECAP_TOKENS_MIN) return null

  const edited = yield* editedDown(frame, yield* begunDraft(frame))
  const turned = yield* foldedByTurns(frame, edited, overLimit)
  // A recap can take as much as what it replaces, and its frame on top: nothing is cut for that.
  if (isByLength && !demanded && turned.draft.tokens > options.room.budgetTokens) return null
  const folded = yield* foldedDown(frame, turned)
  return options.plannedTokensMax === null ? yield* madeNow(frame, folded) : plannedAhead(frame, folded.draft)
}

// --- internal ---

/** A draft on its way down. */
type Descent = {
  readonly draft: Draft
  /** How far down its view is to come. */
  readonly aimTokens: number
  /** The summaries that may stand in its fold. */
  readonly summaries: readonly StandingSummary[]
  /** Whether edits are not enough. */
  readonly isFolding: boolean
}

/** The prepared fold, if it takes more than the one that stands. */
function furtherFold({ options, before }: Frame): PreparedFold | null {
  const { prepared, smallest } = options
  return prepared !== null && !smallest && prepared.frontier > (before.fold?.frontier ?? -1) ? prepared : null
}

function summariesAtFirst(frame: Frame): readonly StandingSummary[] {
  const { options, before } = frame
  if (options.smallest) return []
  const standing = furtherFold(frame) === null ? (options.prepared ?? before.fold) : before.fold
  return standing?.summaries ?? []
}

/** What a compaction starts from: the one before it, with its recaps made anew for the pins and the room of now. */
function begunDraft(frame: Frame): Pausable<Draft> {
  const { counts, options, pins, before } = frame
  const { history } = counts
  const { point, smallest } = options
  const { fold } = before
  return countedDraft(frame, {
    point,
    ...pins,
    reach: before.reach,
    cleared: before.cleared,
    fold: fold && foldAt(frame, summariesAtFirst(frame), fold.frontier, smallest ? [] : fold.kept),
    // What was clipped before stays clipped; what is pinned now is clipped again only where that is needed.
    clips: before.clips.filter(({ index }) => !isPinned(pins, index)),
    thoughts: history.keepsNewestThoughts === true ? newestThoughts(history, point) : [],
    protectedFrom: frame.cutUnit?.from ?? frame.recentFrom,
  })
}

/** Half of the way down, which is good enough for what was planned for a view that grew by less or more. */
function halfWay({ targetTokens, triggerTokens }: Frame): number {
  return (targetTokens + triggerTokens) / 2
}

/** The passes that edit single messages, and the fold that was prepared if they are not enough. */
function* editedDown(frame: Frame, begun: Draft): Pausable<Descent> {
  const { counts, options, targetTokens, aheadTokens, worthTokens, isByLength } = frame
  const { profile } = counts
  // Thresholds are shares of the budget, and what is aimed for decides what a record says: in whole tokens.
  const aimTokens = Math.floor(targetTokens - aheadTokens)
  const summaries = summariesAtFirst(frame)
  const draft = yield* editedByWorth(frame, begun, aimTokens, profile.clear.keep_results)
  const edited = { draft, aimTokens, summaries, isFolding: false }
  if (!runs(frame, profile.fold.at) || draft.tokens <= aimTokens || isByLength) return edited
  if (options.reason === 'trigger' && profile.target === null) {
    // A fold takes many of the agent's words and gives a recap of them: where edits are enough none is made. A target of the
    // profile's own is what it says.
    const enough = yield* editedEnough(frame, draft, aimTokens, halfWay(frame))
    if (enough !== null) return { ...edited, draft: enough, aimTokens: Math.max(aimTokens, enough.tokens) }
  }
  const prepared = furtherFold(frame)
  if (prepared === null) return { ...edited, isFolding: true }
  const fold = foldAt(frame, prepared.summaries, prepared.frontier, prepared.kept)
  const folded = yield* countedDraft(frame, { ...draft, fold })
  // If its summaries alone would free too little to be a compaction, more is folded.
  const isEnough = folded.tokens <= Math.min(halfWay(frame), worthTokens)
  return {
    draft: folded,
    aimTokens: isEnough ? folded.tokens : Math.floor(Math.min(aimTokens, worthTokens)),
    summaries: prepared.summaries,
    isFolding: true,
  }
}

/** The fold of a profile with a limit: whole turns. */
function* foldedByTurns(frame: Frame, begun: Descent, overLimit: TurnsFold | null): Pausable<Descent> {
  const { counts, options } = frame
  const { profile, history } = counts
  const { draft, aimTokens, summaries } = begun
  if (!hasLimit(profile) || options.smallest) return begun
  const isTooLarge = runs(frame, profile.fold.at) && draft.tokens > aimTokens
  const length = lengthOf(history.structure, draft, options.point)
  if (overLimit === null && !isTooLarge && !isOverLimit(profile, length)) return begun
  const foldedBy = ({ frontier, kept }: TurnsFold): Pausable<Draft> =>
    countedDraft(frame, { ...draft, fold: foldAt(frame, summaries, frontier, kept) })
  const isSmallEnough = function* isSmallEnough(turns: TurnsFold): Pausable<boolean> {
    return (yield* foldedBy(turns)).tokens <= aimTokens
  }
  const turns = overLimit ?? (yield* foldTurns(frame, isTooLarge ? isSmallEnough : null))
  return turns === null ? begun : { ...begun, draft: yield* foldedBy(turns) }
}

/** What is still above the aim: parts above their share are cut, then everything up to the first frontier that is enough folded. */
function* foldedDown(frame: Frame, begun: Descent): Pausable<Descent> {
  const { aimTokens, summaries, isFolding } = begun
  let { draft } = begun
  if (draft.tokens > aimTokens) {
    draft = yield* cutToShares(frame, draft)
    if (isFolding) draft = yield* editedByWorth(frame, draft, aimTokens, 0)
  }
  if (draft.tokens > aimTokens && runs(frame, frame.counts.profile.fold.at)) {
    const frontier = yield* chooseFrontier(frame, summaries, draft, aimTokens)
    if (frontier !== null)
      draft = yield* countedDraft(frame, { ...draft, fold: foldAt(frame, summaries, frontier) })
  }
  return { ...begun, draft: yield* putBack(frame, draft, aimTokens) }
}

/** The compaction of a draft, cut to fit; null where it does not free enough. */
function* madeNow(frame: Frame, { draft, aimTokens }: Descent): Pausable<Compaction | null> {
  const { options, beforeTokens, worthTokens, isByPressure, isByLength, demanded } = frame
  const isSmaller = ({ tokens }: Draft): boolean =>
    tokens < beforeTokens && (!isByPressure || tokens <= worthTokens)
  const whole = options.smallest ? draft : yield* withSpare(frame, draft, aimTokens - draft.tokens)
  const fitting = yield* clippedToFit(frame, whole)
  if (!isSmaller(fitting) && (!isByLength || demanded)) return null
  const thoughtful = options.smallest ? null : yield* withHeldThoughts(frame, whole, fitting)
  return recordOf(frame, thoughtful !== null && isSmaller(thoughtful) ? thoughtful : fitting)
}

/**
 * The draft with the thoughts that still hold under it; null if there are none, or no room for them. For thoughts nothing is cut
 * that has a right to be whole.
 */
function* withHeldThoughts(frame: Frame, whole: Draft, fitting: Draft): Pausable<Draft | null> {
  const { counts, options, parts, shares } = frame
  const held = yield* heldThoughts(counts, options.previous, recordOf(frame, fitting))
  if (held.length === 0) return null
  const thoughts = ascending([...whole.thoughts, ...held])
  const other = yield* clippedToFit(frame, yield* countedDraft(frame, { ...whole, thoughts }))
  if (other.tokens > options.room.budgetTokens) return null
  const still = new Set(yield* heldThoughts(counts, options.previous, recordOf(frame, other)))
  if (!held.every((index) => still.has(index))) return null
  const isNewestLarge = parts.sizes.newestRound > shares.sure.newestRound
  const cut = new Set(fitting.clips.map(({ index }) => index))
  return isNewestLarge || other.clips.every(({ index }) => cut.has(index)) ? other : null
}

/** The compaction of a draft as it is planned for later; null where nothing is to be summarised for it yet. */
function plannedAhead(frame: Frame, draft: Draft): Compaction | null {
  const { counts, options, before, aheadTokens } = frame
  const { systemCount } = counts.history.structure
  // Planned too early, a fold would not be enough when its time comes, and another summary be asked for beside it.
  if (!options.isBeyondBudget && draft.tokens + aheadTokens > halfWay(frame)) return null
  // If a recap stands, a summary in its place may be all that it takes.
  const foldsMore = (draft.fold?.frontier ?? 0) > (before.fold?.frontier ?? systemCount)
  return foldsMore || hasUnsummarised(before, systemCount) ? recordOf(frame, draft) : null
}
