import { countBelow } from '../conversation/structure.ts'
import type { Pausable } from '../json/source.ts'
import { type Compaction, type PreparedFold, UNTOUCHED } from './compaction.ts'
import { dueReasons, isBeyondBudget, type Moment } from './due.ts'
import type { MadeCache } from './made-cache.ts'
import type { PlanOptions } from './plan/frame.ts'
import { planCompaction } from './plan/plan.ts'
import { restatedMost } from './plan/fold.ts'
import { SHARE } from './shares.ts'
import type { Room } from '../tokens/budget.ts'
import type { Profile } from '../profiles/schema.ts'
import type { History } from './history/history.ts'
import { sum } from '../conversation/sizes.ts'
import { countsOf, plannedTokens, type TokenCounts } from './token-counts.ts'
import { editsOf } from './edits.ts'
import { standingView, type View, viewUnder } from './view/view.ts'

/** A conversation as it is sent, and the compaction that it stands in; `compaction` null where nothing was done yet. */
export type Compacted = { readonly compaction: Compaction | null; readonly view: View }

export type CompactOptions = Pick<Moment, 'room' | 'forced'> & {
  readonly profile: Profile
  /** The newest compaction on record that is a prefix of the conversation. */
  readonly newest: Compaction | null
  /** Up to which request point no further compaction was due, since that request was seen; null: its past is not known. */
  readonly seenUntil: number | null
  /**
   * Up to which point this conversation is the one that was seen before, if its client edits the end at each request;
   * null if it goes on from a whole request, or was never seen.
   */
  readonly sharedUntil: number | null
  /** How much more the provider has counted of the view of `newest` than we did, in our tokens; may be below zero. */
  readonly differenceTokens: number
  readonly strict: boolean
  /** A fold whose summaries are there, for a compaction that is due now; else null. */
  readonly prepared: PreparedFold | null
}

/** The compaction that a conversation stands in, and what it was made from. */
export type Advanced = {
  readonly compaction: Compaction | null
  /** The compaction before it; null where there was none. */
  readonly previous: Compaction | null
  /** Tokens of the view before it, at its point, without what surrounds the conversation; null where none was made. */
  readonly beforeTokens: number | null
}

/**
 * The compaction that a conversation stands in: the newest on record, and one more if the request that is made now does not
 * fit. If nothing is on record, the request points of the past are walked with the same numbers (P6).
 */
export function* compactionFor(
  history: History,
  cache: MadeCache,
  options: CompactOptions,
): Pausable<Advanced> {
  const { newest, room } = options
  const end = history.messages.length
  const counts = countsOf(history, options.profile, cache)
  let advanced: Advanced = { compaction: newest, previous: null, beforeTokens: null }
  let from = newest?.point ?? history.structure.systemCount
  let viewTokens = newest === null ? 0 : yield* standingTokens(counts, newest, true)
  let made = newest === null ? 0 : 1
  const points = [...pastPoints(history, options), end]
  yield
  for (const point of points) {
    const { compaction } = advanced
    // Beyond its point a compaction edits nothing, but what refers to messages that it took away.
    viewTokens += yield* counts.editedTokens(from, point, editsOf(compaction ?? UNTOUCHED))
    from = point
    const isNow = point === end
    const moment: Moment = {
      point,
      compaction,
      room,
      viewTokens,
      // The provider's count is known of the view of this very compaction, and of no other.
      differenceTokens: compaction === newest ? options.differenceTokens : 0,
      forced: isNow && options.forced,
    }
    const prepared = isNow ? options.prepared : null
    const within = isNow ? momentWithin(counts, moment, options) : null
    const next =
      (within && (yield* compactionAt(counts, moment, options.strict, null, within))) ??
      (yield* compactionAt(counts, moment, options.strict, prepared))
    if (next === null) continue
    advanced = { compaction: next, previous: compaction, beforeTokens: viewTokens }
    if (isNow) break
    viewTokens = yield* standingTokens(counts, next, made < VIEWS_MADE_MAX)
    made += 1
  }
  return advanced
}

/** A smaller view after the upstream refused that of `previous`; null where nothing more can be taken away. */
export function* tighten(
  history: History,
  cache: MadeCache,
  {
    profile,
    ...options
  }: Pick<PlanOptions, 'previous' | 'room' | 'keepRecent' | 'smallest' | 'strict'> & {
    readonly profile: Profile
  },
): Pausable<Compacted | null> {
  const compaction = yield* planCompaction(countsOf(history, profile, cache), {
    ...options,
    point: history.messages.length,
    reason: 'overflow',
    isBeyondBudget: true,
    prepared: null,
    plannedTokensMax: null,
    viewTokens: null,
  })
  if (compaction === null) return null
  const { strict } = options
  return { compaction, view: yield* viewUnder(history, cache, { profile, compaction, strict }) }
}

/**
 * The room that a compaction is planned with, if the provider counts so much more of the view than we do: the excess may
 * stand in the parts that stay. What we counted too much may lie in those that go, and so does most of a large excess.
 */
export function correctedRoom(room: Room, differenceTokens: number): Room {
  const most = Math.floor(room.budgetTokens * STAYING_EXCESS_SHARE)
  return { ...room, aroundTokens: room.aroundTokens + Math.max(0, Math.min(differenceTokens, most)) }
}

// --- internal ---

/** More than this share of the budget is not taken to stand in the parts that stay. */
const STAYING_EXCESS_SHARE = 0.25

/** The view of a longer fold is made only to be sent. */
const MADE_FRONTIER_MAX = 2000

/**
 * So many views are made in one walk, tens of milliseconds each. A conversation of two megabytes that is seen for the first
 * time has hundreds behind it under a small window, and took a minute; those that agents have had so far stay below a hundred.
 */
const VIEWS_MADE_MAX = 128

/**
 * If more messages than this hold for all that follows, the past is not walked: a compaction at each point would weigh all of
 * them, and a megabyte of them took minutes.
 */
const WALKED_RESTATED_MAX = 512

/** The request points of the past that have to be walked, ascending: those since which nothing is known. */
function pastPoints(history: History, { newest, seenUntil, sharedUntil }: CompactOptions): readonly number[] {
  const { messages, structure } = history
  // Since a request that was seen, nothing was sent up to any point but this one.
  if (seenUntil !== null || sharedUntil !== null) return []
  if (restatedMost(history, messages.length) > WALKED_RESTATED_MAX) return []
  const { requestPoints } = structure
  const known = newest?.point ?? 0
  return requestPoints.slice(countBelow(requestPoints, known + 1), countBelow(requestPoints, messages.length))
}

/**
 * Tokens of what stands up to a compaction's point, as it is sent: a recap is mostly smaller than it was planned. A walk
 * through the past has to make each of these views; behind very many messages or compactions the plan has to do.
 */
function* standingTokens(counts: TokenCounts, compaction: Compaction, isMade: boolean): Pausable<number> {
  if (!isMade || (compaction.fold?.frontier ?? 0) > MADE_FRONTIER_MAX)
    return yield* plannedTokens(counts, compaction, compaction.point)
  return sum((yield* standingView(counts, compaction)).map(({ tokens }) => tokens))
}

/**
 * The point up to which its client leaves the conversation as it is, for the compaction that is due now: the next request has
 * the same beginning and finds it again. Null where there is none, or where what follows it leaves too little.
 */
function momentWithin(
  { originalTokens }: TokenCounts,
  moment: Moment,
  { sharedUntil, prepared }: CompactOptions,
): Moment | null {
  if (sharedUntil === null || sharedUntil <= (moment.compaction?.point ?? 0) || prepared !== null) return null
  const { budgetTokens, aroundTokens } = moment.room
  const behindTokens = originalTokens(sharedUntil, moment.point)
  if (behindTokens > (budgetTokens - aroundTokens) * SHARE.newestRound) return null
  const room = { budgetTokens, aroundTokens: aroundTokens + behindTokens }
  return { ...moment, point: sharedUntil, room, viewTokens: moment.viewTokens - behindTokens }
}

/** The compaction that is due at a moment, made there or at an earlier one, where it has to fit; null where none is. */
function* compactionAt(
  counts: TokenCounts,
  moment: Moment,
  strict: boolean,
  prepared: PreparedFold | null,
  at = moment,
): Pausable<Compaction | null> {
  const { aroundTokens, budgetTokens } = at.room
  for (const reason of dueReasons(counts, moment)) {
    const compaction = yield* planCompaction(counts, {
      reason,
      strict,
      prepared,
      point: at.point,
      previous: at.compaction,
      room: correctedRoom(at.room, at.differenceTokens),
      isBeyondBudget: isBeyondBudget(at),
      keepRecent: counts.profile.keep.recent_messages,
      smallest: false,
      plannedTokensMax: null,
      viewTokens: at.viewTokens,
    })
    if (compaction === null) continue
    const isSure =
      at === moment || aroundTokens + (yield* plannedTokens(counts, compaction, at.point)) <= budgetTokens
    if (isSure) return compaction
  }
  // A compaction that is due is made even if none comes of what was prepared.
  return prepared === null ? null : yield* compactionAt(counts, moment, strict, null)
}
