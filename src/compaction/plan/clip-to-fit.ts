import type { Steps } from '../../conversation/source.ts'
import { clipGroup, HEAD_AND_TAIL_TOKENS } from './clip-group.ts'
import { templateFits } from './frontier.ts'
import { clipsByIndex, plannedTokens } from '../layout.ts'
import type { Ledger } from '../ledger.ts'
import type { Parts } from './parts.ts'
import type { Shares } from './shares.ts'
import { sum } from '../size-sums.ts'
import type { Clip, Fold, Reach, Compaction } from '../compaction.ts'
import { isSystem, type Subject } from '../subject.ts'

export type ClipInput = {
  readonly pins: Pick<Compaction, 'task' | 'latestUser'>
  readonly parts: Parts
  readonly shares: Shares
  readonly fold: Fold | null
  readonly reach: Reach
  readonly clips: readonly Clip[]
  readonly point: number
  /** What the budget leaves beside what surrounds the conversation, in tokens; not above 0 where that alone exceeds it. */
  readonly roomTokens: number
  /** How far below that a view stays that is cut, in tokens. */
  readonly doubtTokens: number
  /** The largest recap that the profile allows, in tokens. */
  readonly recapTokensMax: number
  /** Whether a newest user message that exceeds the room by itself may be clipped. */
  readonly clipsNewestUser: boolean
  /** Whether a template wants the roles to alternate. */
  readonly strict: boolean
}

export type ClipPlan = {
  readonly clips: readonly Clip[]
  readonly fold: Fold | null
  readonly tokens: number
}

/**
 * The last means, for a view that still exceeds the budget: parts above their share are cut down to it, in the reverse of
 * their order of right, no further than is needed. Where frames and names that cannot be cut leave no room for that,
 * messages before the newest round are folded, and every part keeps a head and a tail as long as that fits. System
 * messages are never touched; nor is a newest user message whose text exceeds the room by itself, unless the profile
 * says so.
 */
export function* planClips(subject: Subject, ledger: Ledger, input: ClipInput): Steps<ClipPlan> {
  const { pins, parts, shares } = input
  const roomTokens = input.roomTokens - input.doubtTokens
  const weigh = weigher(subject, ledger, input)
  let draft: ClipPlan = yield* weigh(input.clips, input.fold)
  const isDone = (): boolean => draft.tokens <= roomTokens

  function* shorten(indexes: readonly number[], toTokens: number, floorTokens: number): Steps<void> {
    if (isDone() || indexes.length === 0) return
    const sizes = yield* sizesOf(ledger, input.reach, draft.clips, indexes)
    const excessTokens = Math.min(draft.tokens - roomTokens, sum(sizes.values()) - toTokens)
    if (excessTokens <= 0) return
    const clips = yield* clipGroup(ledger, input.reach, draft.clips, indexes, excessTokens, floorTokens)
    draft = yield* weigh(clips, draft.fold)
  }

  const loadedTokens = parts.newestUser === -1 ? 0 : sum(subject.mediaSizes(parts.newestUser))
  const isUserFixed = parts.sizes.newestUser - loadedTokens > input.roomTokens && !input.clipsNewestUser
  const olderUser =
    pins.latestUser === parts.newestUser || pins.latestUser === pins.task ? -1 : pins.latestUser
  const task = pins.task === parts.newestUser ? -1 : pins.task
  const round = newestRound(subject, input)

  // Parts above their share, the one with the least right first.
  draft = yield* unloaded(subject, olderUser, shares.sure.latestUser, roomTokens, draft, weigh)
  yield* shorten(one(olderUser), shares.sure.latestUser, HEAD_AND_TAIL_TOKENS)
  yield* shorten(one(task), shares.sure.task, HEAD_AND_TAIL_TOKENS)
  yield* shorten(round, shares.sure.newestRound, HEAD_AND_TAIL_TOKENS)
  if (!isUserFixed) {
    draft = yield* unloaded(subject, parts.newestUser, shares.sure.newestUser, roomTokens, draft, weigh)
    yield* shorten(one(parts.newestUser), shares.sure.newestUser, HEAD_AND_TAIL_TOKENS)
  }
  // What is left of the parts has no more than its share, and a right before a recap.
  draft = yield* withLessRecap(draft, shares.recapMin * YIELDING_RECAP_SHARE, roomTokens, weigh)
  // Frames, names and system messages in between may take more than their part's share: older messages make room.
  const isCut = !input.strict || templateFits(subject, input.point)[parts.newestFrom] !== 'badly'
  if (!isDone() && isCut) draft = yield* foldedUpTo(draft, parts.newestFrom, shares.recapMin, input, weigh)
  if (isDone() || isUserFixed) return draft
  // A view beyond system messages and tools that exceed the budget is the upstream's to judge: a word each helps nobody.
  const floors = roomTokens > 0 ? [HEAD_AND_TAIL_TOKENS, FLOOR_TOKENS] : [HEAD_AND_TAIL_TOKENS]
  const cuttable = [...round, ...one(task), ...one(olderUser), ...one(parts.newestUser)]
  for (const floorTokens of floors) {
    yield* shorten([...round, ...keptTurns(input)], 0, floorTokens)
    yield* shorten(cuttable, 0, floorTokens)
  }
  for (const recap of [markOnly, withoutRecap])
    if (!isDone() && draft.fold !== null)
      draft = yield* weigh(draft.clips, { frontier: draft.fold.frontier, kept: draft.fold.kept, ...recap })
  if (isDone() || roomTokens <= 0) return draft
  yield* shorten(cuttable, 0, LEAST_TOKENS)
  draft = yield* unloaded(subject, pins.latestUser, 0, roomTokens, draft, weigh)
  return isDone() ? draft : yield* foldWhole(input, roomTokens, weigh)
}

// --- internal ---

/** A mark, and a few words of head and tail. */
const FLOOR_TOKENS = 24

/** What a recap keeps of its least share, where the parts before it in right would be cut else. */
const YIELDING_RECAP_SHARE = 1 / 2

/** The frame and one word: where nothing else fits. */
const LEAST_TOKENS = 1

/** Where a recap does not fit, a mark says that something was left out; at the last not even that. */
const markOnly = {
  beforeTokensMax: 12,
  afterTokensMax: 12,
  systemTokensMax: 0,
  summaries: [],
  recapsBeside: false,
} as const
const withoutRecap = {
  beforeTokensMax: 0,
  afterTokensMax: 0,
  systemTokensMax: 0,
  summaries: [],
  recapsBeside: false,
} as const

type Weigh = (clips: readonly Clip[], fold: Fold | null) => Steps<ClipPlan>

function weigher(subject: Subject, ledger: Ledger, { pins, reach, point }: ClipInput): Weigh {
  const { systemCount } = subject.structure
  return function* weigh(clips, fold) {
    const tokens = yield* plannedTokens(ledger, { ...pins, fold, clips, reach }, systemCount, point)
    return { clips, fold, tokens }
  }
}

function one(index: number): readonly number[] {
  return index === -1 ? [] : [index]
}

/** The messages of the newest round that may be cut, without pinned ones. */
function newestRound(subject: Subject, { pins, parts, point }: ClipInput): readonly number[] {
  const indexes: number[] = []
  for (let index = parts.newestFrom; index < point; index += 1) {
    const isPinned = index === pins.latestUser || index === pins.task
    if (!isPinned && !isSystem(subject, index)) indexes.push(index)
  }
  return indexes
}

/** What is kept of old turns, in a profile with a limit of turns. */
function keptTurns({ fold, pins }: ClipInput): readonly number[] {
  return fold?.kept.filter((index) => index !== pins.task) ?? []
}

/** A user message without its media, the first of them first, as long as it takes more than `toTokens`. */
function* unloaded(
  subject: Subject,
  index: number,
  toTokens: number,
  roomTokens: number,
  begun: ClipPlan,
  weigh: Weigh,
): Steps<ClipPlan> {
  const mediaSizes = index === -1 ? [] : subject.mediaSizes(index)
  if (begun.tokens <= roomTokens || mediaSizes.length === 0) return begun
  const others = begun.clips.filter((each) => each.index !== index)
  const without = (count: number): Steps<ClipPlan> =>
    weigh([...others, { kind: 'media', index, mediaKept: mediaSizes.length - count }], begun.fold)
  // No more than bring it down to its share, and of these the fewest that are enough: there may be thousands.
  let most = 0
  for (let size = subject.sizes[index] ?? 0; size > toTokens && most < mediaSizes.length; most += 1)
    size -= mediaSizes[most] ?? 0
  if (most === 0) return begun
  let draft = yield* without(most)
  for (let fewest = 1; draft.tokens <= roomTokens && fewest < most;) {
    const middle = Math.floor((fewest + most) / 2)
    const tried = yield* without(middle)
    if (tried.tokens > roomTokens) fewest = middle + 1
    else [most, draft] = [middle, tried]
  }
  return draft
}

/**
 * The same with a shorter recap, no shorter than needed and than `leastTokens`. Summaries that stand beside it were
 * written for what is folded, and stay.
 */
function* withLessRecap(
  begun: ClipPlan,
  leastTokens: number,
  roomTokens: number,
  weigh: Weigh,
): Steps<ClipPlan> {
  const { fold } = begun
  if (fold === null || fold.summaries.length > 0) return begun
  const recapTokens = fold.beforeTokensMax + fold.afterTokensMax
  const lessTokens = Math.min(begun.tokens - roomTokens, recapTokens - leastTokens)
  if (lessTokens <= 0) return begun
  const share = (recapTokens - lessTokens) / recapTokens
  return yield* weigh(begun.clips, {
    ...fold,
    beforeTokensMax: Math.floor(fold.beforeTokensMax * share),
    afterTokensMax: Math.floor(fold.afterTokensMax * share),
  })
}

/** The same with all messages before a cut folded, where the view is smaller then. */
function* foldedUpTo(
  begun: ClipPlan,
  frontier: number,
  recapTokens: number,
  { pins, fold: planned }: ClipInput,
  weigh: Weigh,
): Steps<ClipPlan> {
  const standing = begun.fold?.frontier ?? -1
  if (frontier <= standing) return begun
  const isPinned = (index: number): boolean => index === pins.task || index === pins.latestUser
  const clips = begun.clips.filter(({ index }) => index >= frontier || isPinned(index))
  const isSplit = pins.latestUser !== -1 && pins.latestUser !== pins.task && pins.latestUser < frontier - 1
  const half = Math.floor(recapTokens / 2)
  const folded = yield* weigh(clips, {
    frontier,
    kept: [],
    beforeTokensMax: isSplit ? half : recapTokens,
    afterTokensMax: isSplit ? half : 0,
    systemTokensMax: Math.min(planned?.systemTokensMax ?? 0, half),
    summaries: [],
    recapsBeside: false,
  })
  return folded.tokens < begun.tokens ? folded : begun
}

/** Everything but the pinned messages folded, the newest round included, with as much of a recap as fits. */
function* foldWhole(input: ClipInput, roomTokens: number, weigh: Weigh): Steps<ClipPlan> {
  const { pins, point } = input
  const isPinned = (index: number): boolean => index === pins.task || index === pins.latestUser
  const clips = input.clips.filter((clip) => isPinned(clip.index))
  const bare = { frontier: point, kept: [], ...withoutRecap }
  const { tokens } = yield* weigh(clips, bare)
  const recapTokensMax = Math.max(0, Math.min(input.recapTokensMax, roomTokens - tokens))
  const split = pins.latestUser !== -1 && pins.latestUser !== pins.task ? 'afterTokensMax' : 'beforeTokensMax'
  return yield* weigh(clips, { ...bare, [split]: recapTokensMax })
}

/** What these messages take in a view that is clipped so, in tokens. */
function* sizesOf(
  ledger: Ledger,
  reach: Reach,
  clips: readonly Clip[],
  indexes: readonly number[],
): Steps<ReadonlyMap<number, number>> {
  const known = clipsByIndex(clips)
  const sizes = new Map<number, number>()
  for (const index of indexes) sizes.set(index, yield* ledger.treatedTokens(index, index + 1, reach, known))
  return sizes
}
