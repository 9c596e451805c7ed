import type { Steps } from '../../json/source.ts'
import type { Clip, Compaction, Fold } from '../compaction.ts'
import { keptTokens } from '../history/kept-passages.ts'
import { sum } from '../history/size-sums.ts'
import { isSystem } from '../history/subject.ts'
import { type Editing, editsOf, NO_EDITS } from '../edits.ts'
import { restatedAt } from './fold-at.ts'
import { countedDraft, type Draft } from './draft.ts'
import { type Frame, isPinned } from './frame.ts'
import { templateFits } from './frontier.ts'
import { waterLevel } from '../../conversation/water-level.ts'
import type { TokenCounts } from '../token-counts.ts'

/**
 * The last means, for a view that still exceeds the budget: parts above their share are cut down to it, in the reverse of
 * their order of right, no further than is needed. If frames and names that cannot be cut leave no room for that,
 * messages before the newest round are folded, and every part keeps a head and a tail as long as that fits. System
 * messages are never touched; nor is a newest user message whose text exceeds the room by itself, unless the profile
 * says so.
 */
export function* clippedToFit(frame: Frame, begun: Draft): Steps<Draft> {
  const { counts, options, pins, parts, shares } = frame
  const { fold } = begun
  const { budgetTokens, aroundTokens } = options.room
  const restated = new Set(fold?.restated)
  const clips = begun.clips.filter(
    ({ index }) =>
      fold === null ||
      index >= fold.frontier ||
      fold.kept.includes(index) ||
      restated.has(index) ||
      isPinned(pins, index),
  )
  let draft: Draft = { ...begun, clips }
  const goalTokens = budgetTokens - Math.floor(budgetTokens * COUNT_DOUBT_SHARE)
  if (draft.tokens <= goalTokens) return draft
  draft = yield* countedDraft(frame, draft)
  const isDone = (): boolean => draft.tokens <= goalTokens
  const shorten = function* shorten(
    indexes: readonly number[],
    toTokens: number,
    floorTokens: number,
  ): Steps<void> {
    draft = yield* shortened(frame, draft, goalTokens, indexes, toTokens, floorTokens)
  }

  const { newestUser } = parts
  const olderUser = pins.latestUser === newestUser || pins.latestUser === pins.task ? -1 : pins.latestUser
  const task = pins.task === newestUser ? -1 : pins.task
  const round: number[] = []
  for (let index = parts.newestFrom; index < options.point; index += 1)
    if (!isPinned(pins, index) && !isSystem(counts.subject, index)) round.push(index)
  yield
  const loadedTokens = newestUser === -1 ? 0 : sum(counts.subject.mediaSizes(newestUser))
  const isUserFixed =
    parts.sizes.newestUser - loadedTokens > budgetTokens - aroundTokens && !counts.policy.clip.newest_user

  // What is only said again, as far as it can be cut: what tools were looked for by.
  yield* shorten([...restated], 0, HEAD_AND_TAIL_TOKENS)
  // Parts above their share, the one with the least right first.
  draft = yield* unloaded(frame, draft, goalTokens, olderUser, shares.sure.latestUser)
  yield* shorten([olderUser], shares.sure.latestUser, HEAD_AND_TAIL_TOKENS)
  yield* shorten([task], shares.sure.task, HEAD_AND_TAIL_TOKENS)
  yield* shorten(round, shares.sure.newestRound, HEAD_AND_TAIL_TOKENS)
  if (!isUserFixed) {
    draft = yield* unloaded(frame, draft, goalTokens, newestUser, shares.sure.newestUser)
    yield* shorten([newestUser], shares.sure.newestUser, HEAD_AND_TAIL_TOKENS)
  }
  // What is left of the parts has no more than its share, and a right before a recap.
  draft = yield* withLessRecap(frame, draft, goalTokens)
  // Frames, names and system messages in between may take more than their part's share: older messages make room.
  const isCut = !options.strict || templateFits(counts.subject, options.point)[parts.newestFrom] !== 'badly'
  if (!isDone() && isCut)
    draft = yield* withLessRecap(frame, yield* foldedUpTo(frame, draft, begun.fold), goalTokens)
  yield* shorten(draft.fold?.restated ?? [], 0, HEAD_AND_TAIL_TOKENS)
  if (isDone() || isUserFixed) return draft
  // A view beyond system messages and tools that exceed the budget is the upstream's to judge: a word each helps nobody.
  const hasRoom = goalTokens > aroundTokens
  const keptTurns = fold?.kept.filter((index) => index !== pins.task) ?? []
  const cuttable = [...round, task, olderUser, newestUser]
  for (const floorTokens of hasRoom ? [HEAD_AND_TAIL_TOKENS, FLOOR_TOKENS] : [HEAD_AND_TAIL_TOKENS]) {
    yield* shorten([...round, ...keptTurns], 0, floorTokens)
    yield* shorten(cuttable, 0, floorTokens)
  }
  // If a recap does not fit, a mark says that something was left out; at the last not even that.
  for (const recapTokens of [MARK_TOKENS, 0])
    if (!isDone() && draft.fold !== null) {
      const { frontier, kept } = draft.fold
      draft = yield* countedDraft(frame, { ...draft, fold: bareFold(frame, frontier, kept, recapTokens) })
    }
  if (isDone() || !hasRoom) return draft
  yield* shorten(cuttable, 0, LEAST_TOKENS)
  draft = yield* unloaded(frame, draft, goalTokens, pins.latestUser, 0)
  return isDone() ? draft : yield* foldedWhole(frame, { ...draft, clips }, goalTokens)
}

/**
 * If the newest messages do not come to their share because what lies before them is too large to stay whole: the draft with
 * the clips that leave of it what their share has room for, head and tail. The same clips if not even that is possible.
 */
export function* withCutUnit(frame: Frame, draft: Draft): Steps<Omit<Draft, 'tokens'>> {
  const { counts, recentFrom, cutUnit: unit, pins } = frame
  const uncut = { ...draft, protectedFrom: recentFrom }
  if (unit === null) return uncut
  const group: number[] = []
  for (let index = unit.from; index < recentFrom; index += 1) if (!isPinned(pins, index)) group.push(index)
  const sizeUnder = function* sizeUnder(clips: Compaction['clips']): Steps<number> {
    const edits = editsOf({ ...draft, clips })
    let tokens = 0
    for (const index of group) tokens += yield* counts.editedTokens(index, index + 1, edits)
    return tokens
  }
  const excessTokens = (yield* sizeUnder(draft.clips)) - unit.tokensMax
  if (excessTokens <= 0) return { ...draft, protectedFrom: unit.from }
  const cuttable = group.filter((index) => !isSystem(counts.subject, index))
  const clips = yield* clipGroup(counts, draft, cuttable, excessTokens, HEAD_AND_TAIL_TOKENS)
  return (yield* sizeUnder(clips)) <= unit.tokensMax ? { ...draft, clips, protectedFrom: unit.from } : uncut
}

/**
 * Clips of task and latest user message, where they take more than their share. What was clipped to fit stays the same bytes,
 * and in the provider's cache.
 */
export function pinnedClips({ pins, parts, shares, before }: Frame): readonly Clip[] {
  const clips: Clip[] = []
  for (const part of ['task', 'latestUser'] as const) {
    const index = pins[part]
    const tokensMax = shares[part]
    if (parts.sizes[part] <= tokensMax) continue
    const standing = before.clips.find((clip) => clip.index === index)
    const isEnough =
      standing?.kind === 'content' &&
      standing.tokensMax <= tokensMax &&
      standing.tokensMax >= Math.max(shares.sure[part], tokensMax * STANDING_CLIP_SHARE_MIN)
    clips.push(isEnough ? standing : { kind: 'content', index, of: 'kept', tokensMax })
  }
  return clips
}

/**
 * The same clips, where a compaction ends so far below its aim: task and latest user message get what is left, in this
 * order. A little that is left is left, so that they keep their bytes from one compaction to the next.
 */
export function withSpare(
  { pins, parts, roomTokens }: Frame,
  clips: Compaction['clips'],
  spareTokens: number,
): Compaction['clips'] {
  if (spareTokens < roomTokens * SPARE_SHARE_MIN) return clips
  let left = spareTokens
  let given = clips
  for (const part of ['task', 'latestUser'] as const) {
    const clip = clips.find(({ index }) => index === pins[part])
    if (clip?.kind !== 'content') continue
    const tokensMax = Math.min(parts.sizes[part], Math.floor(clip.tokensMax + left))
    left -= tokensMax - clip.tokensMax
    const others = given.filter(({ index }) => index !== clip.index)
    given = tokensMax === parts.sizes[part] ? others : [...others, { ...clip, tokensMax }]
  }
  return given
}

// --- internal ---

/** A clipped message keeps about this much: a mark, and a few lines of its head and tail. */
const HEAD_AND_TAIL_TOKENS = 64

/**
 * Shortens the messages of a group, the largest first, until their excess is gone. Frames and names cannot
 * be shortened: what stays above its level is set aside, and the others give way for it.
 */
function* clipGroup(
  { editOf, editedTokens }: TokenCounts,
  { fold, point, reach, cleared, clips: begun, thoughts }: Editing,
  group: readonly number[],
  excessTokens: number,
  floorTokens: number,
): Steps<readonly Clip[]> {
  const clips = new Map(begun.map((clip) => [clip.index, clip]))
  const frontier = fold?.frontier ?? 0
  const edits = { frontier, reach, cleared: new Set(cleared), clips, point, thoughts: new Set(thoughts) }
  yield
  const sizes = new Map<number, number>()
  // What a clip of each message starts from: one that was cleared is not clipped, and no thoughts are.
  const open = new Map<number, Extract<Clip, { kind: 'content' }>['of']>()
  for (const index of group) {
    sizes.set(index, yield* editedTokens(index, index + 1, edits))
    const { kind } = editOf(index, { ...edits, clips: NO_EDITS.clips, thoughts: NO_EDITS.thoughts })
    if (kind === 'kept' || kind === 'unbound' || kind === 'resolved') open.set(index, 'kept')
    else if (kind === 'rendered' || kind === 'previewed') open.set(index, kind)
  }
  const goalTokens = sum(sizes.values()) - excessTokens
  while (open.size > 0 && sum(sizes.values()) > goalTokens) {
    const openSizes = [...open.keys()].map((index) => sizes.get(index) ?? 0)
    yield
    const level = waterLevel(openSizes, goalTokens - sum(sizes.values()) + sum(openSizes), floorTokens)
    let isLower = false
    let looked = 0
    for (const [index, of] of open) {
      looked += 1
      if (looked % CLIPS_PER_STEP === 0) yield
      const size = sizes.get(index) ?? 0
      if (size <= level) continue
      const earlier = clips.get(index)
      clips.set(index, { kind: 'content', index, of, tokensMax: level })
      const clippedTokens = yield* editedTokens(index, index + 1, edits)
      // What cannot be brought to the level is set aside: that alone lowers the level for the others.
      if (clippedTokens > level && open.delete(index)) isLower = true
      if (clippedTokens >= size) {
        if (earlier === undefined) clips.delete(index)
        else clips.set(index, earlier)
        continue
      }
      sizes.set(index, clippedTokens)
      isLower = true
    }
    if (!isLower) break
    yield
  }
  yield
  return [...clips.values()]
}

/** A new view stays this far below the budget: a count of what was never sent may be off by as much. */
const COUNT_DOUBT_SHARE = 0.005

/** A mark, and a few words of head and tail. */
const FLOOR_TOKENS = 24

/** The frame and one word: where nothing else fits. */
const LEAST_TOKENS = 1

/** A mark that says that something was left out. */
const MARK_TOKENS = 12

/** What a recap keeps of its least share, if the parts before it in right would be cut else. */
const YIELDING_RECAP_SHARE = 1 / 2

/** The draft with these messages shortened together to `toTokens`, but no further than is needed. */
function* shortened(
  frame: Frame,
  draft: Draft,
  goalTokens: number,
  indexes: readonly number[],
  toTokens: number,
  floorTokens: number,
): Steps<Draft> {
  const group = indexes.filter((index) => index !== -1)
  if (draft.tokens <= goalTokens || group.length === 0) return draft
  const edits = editsOf(draft)
  yield
  let groupTokens = 0
  for (const index of new Set(group)) groupTokens += yield* frame.counts.editedTokens(index, index + 1, edits)
  const excessTokens = Math.min(draft.tokens - goalTokens, groupTokens - toTokens)
  if (excessTokens <= 0) return draft
  const clips = yield* clipGroup(frame.counts, draft, group, excessTokens, floorTokens)
  return yield* countedDraft(frame, { ...draft, clips })
}

/** A user message without its media, the first of them first, as long as it takes more than `toTokens`. */
function* unloaded(
  frame: Frame,
  begun: Draft,
  goalTokens: number,
  index: number,
  toTokens: number,
): Steps<Draft> {
  const { subject } = frame.counts
  const mediaSizes = index === -1 ? [] : subject.mediaSizes(index)
  if (begun.tokens <= goalTokens || mediaSizes.length === 0) return begun
  const others = begun.clips.filter((each) => each.index !== index)
  const without = (count: number): Steps<Draft> => {
    const clip = { kind: 'media', index, mediaKept: mediaSizes.length - count } as const
    return countedDraft(frame, { ...begun, clips: [...others, clip] })
  }
  // No more than bring it down to its share, and of these the fewest that are enough: there may be thousands.
  let most = 0
  for (let size = subject.sizes[index] ?? 0; size > toTokens && most < mediaSizes.length; most += 1)
    size -= mediaSizes[most] ?? 0
  if (most === 0) return begun
  let draft = yield* without(most)
  for (let fewest = 1; draft.tokens <= goalTokens && fewest < most;) {
    const middle = Math.floor((fewest + most) / 2)
    const tried = yield* without(middle)
    if (tried.tokens > goalTokens) fewest = middle + 1
    else [most, draft] = [middle, tried]
  }
  return draft
}

/**
 * The same with a shorter recap, no shorter than needed and than what it keeps. Summaries that stand beside it were
 * written for what is folded, and stay.
 */
function* withLessRecap(frame: Frame, begun: Draft, goalTokens: number): Steps<Draft> {
  const { fold } = begun
  if (fold === null || fold.summaries.length > 0) return begun
  const recapTokens = fold.beforeTokensMax + fold.afterTokensMax
  const leastTokens = frame.shares.recapMin * YIELDING_RECAP_SHARE + fold.keptTokensMax
  const lessTokens = Math.min(begun.tokens - goalTokens, recapTokens - leastTokens)
  if (lessTokens <= 0) return begun
  const share = (recapTokens - lessTokens) / recapTokens
  const beforeTokensMax = Math.floor(fold.beforeTokensMax * share)
  const afterTokensMax = Math.floor(fold.afterTokensMax * share)
  return yield* countedDraft(frame, { ...begun, fold: { ...fold, beforeTokensMax, afterTokensMax } })
}

/** The same with all messages before the newest round folded, if the view is smaller then. */
function* foldedUpTo(frame: Frame, begun: Draft, planned: Fold | null): Steps<Draft> {
  const { pins, parts, shares } = frame
  const frontier = parts.newestFrom
  if (frontier <= (begun.fold?.frontier ?? -1)) return begun
  const isSplit = pins.latestUser !== -1 && pins.latestUser !== pins.task && pins.latestUser < frontier - 1
  const half = Math.floor(shares.recapMin / 2)
  const fold = {
    ...bareFold(frame, frontier, [], isSplit ? half : shares.recapMin),
    afterTokensMax: isSplit ? half : 0,
    systemTokensMax: Math.min(planned?.systemTokensMax ?? 0, half),
  }
  const restated = new Set(fold.restated)
  const clips = begun.clips.filter(
    ({ index }) => index >= frontier || restated.has(index) || isPinned(pins, index),
  )
  const folded = yield* countedDraft(frame, { ...begun, clips, fold })
  return folded.tokens < begun.tokens ? folded : begun
}

/** Everything but the pinned messages folded, the newest round included, with as much of a recap as fits. */
function* foldedWhole(frame: Frame, begun: Draft, goalTokens: number): Steps<Draft> {
  const { counts, options, pins } = frame
  const fold = bareFold(frame, options.point, [], 0)
  const restated = new Set(fold.restated)
  const clips = begun.clips.filter(({ index }) => restated.has(index) || isPinned(pins, index))
  const bare = yield* countedDraft(frame, { ...begun, clips, fold })
  const leftTokens = Math.max(0, Math.min(counts.policy.recap.max_tokens, goalTokens - bare.tokens))
  // Before the latest user message, unless something stands behind it.
  const { latestUser, task } = pins
  const isPassed = latestUser !== -1 && latestUser !== task && latestUser < options.point - 1
  const split = isPassed ? 'afterTokensMax' : 'beforeTokensMax'
  return yield* countedDraft(frame, { ...bare, fold: { ...fold, [split]: leftTokens } })
}

/** A fold with nothing but recaps of so many tokens. */
function bareFold(
  { counts, options }: Frame,
  frontier: number,
  kept: readonly number[],
  recapTokens: number,
): Fold {
  return {
    frontier,
    kept,
    restated: restatedAt(counts.subject, options.point, frontier),
    beforeTokensMax: recapTokens,
    afterTokensMax: recapTokens,
    systemTokensMax: 0,
    keptTokensMax: Math.min(recapTokens, keptTokens(counts.subject, frontier)),
    summaries: [],
    recapsBeside: false,
  }
}

/** Messages that are shortened, or left as they are, between two pauses. */
const CLIPS_PER_STEP = 1_024

/** A clip that keeps less than this share of what there is room for is made anew. */
const STANDING_CLIP_SHARE_MIN = 0.7

/** What is left of the room is given away where it is more than this share of it. */
const SPARE_SHARE_MIN = 1 / 16
