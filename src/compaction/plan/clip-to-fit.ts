import { sum, waterLevel } from '../../conversation/sizes.ts'
import type { Pausable } from '../../json/source.ts'
import type { Clip, Fold } from '../compaction.ts'
import { editsOf } from '../edits.ts'
import { isSystem } from '../history/history.ts'
import { CUT_TO_TOKENS, MARK_TOKENS, SHARE } from '../shares.ts'
import type { TokenCounts } from '../token-counts.ts'
import { countedDraft, type Draft, type Frame, isStayingUnder } from './frame.ts'
import { bareFold, isLatestPassed, templateFits } from './fold.ts'
import { isPinned } from './pins.ts'

/**
 * The last means, for a view that still exceeds the budget: parts above their share are cut down to it, in the reverse of
 * their order of right, no further than is needed. If frames and names that cannot be cut leave no room for that,
 * messages before the newest round are folded, and every part keeps a head and a tail as long as that fits. System
 * messages are never touched; nor is a newest user message whose text exceeds the room by itself, unless the profile
 * says so.
 */
export function* clippedToFit(frame: Frame, begun: Draft): Pausable<Draft> {
  const { counts, options, pins, parts, shares, fittingTokens } = frame
  const { history, profile } = counts
  const { budgetTokens, aroundTokens } = options.room
  const { fold } = begun
  const uncut = refolded(frame, begun, fold)
  if (uncut.tokens <= fittingTokens) return uncut

  const { newestUser } = parts
  const olderUser = pins.latestUser === newestUser || pins.latestUser === pins.task ? -1 : pins.latestUser
  const task = pins.task === newestUser ? -1 : pins.task
  const round: number[] = []
  for (let index = parts.newestFrom; index < options.point; index += 1)
    if (!isPinned(pins, index) && !isSystem(history, index)) round.push(index)
  yield
  const loadedTokens = newestUser === -1 ? 0 : sum(history.mediaSizes(newestUser))
  const isUserFixed =
    parts.sizes.newestUser - loadedTokens > budgetTokens - aroundTokens && !profile.clip.newest_user
  const cuttableUser = isUserFixed ? -1 : newestUser

  const cut =
    (indexes: readonly number[], toTokens: number, floor: keyof typeof CUT_TO_TOKENS): Step =>
    (draft) =>
      shortened(frame, draft, indexes, toTokens, CUT_TO_TOKENS[floor])
  const unload =
    (index: number, toTokens: number): Step =>
    (draft) =>
      unloaded(frame, draft, index, toTokens)
  const cutRestated: Step = (draft) =>
    shortened(frame, draft, draft.fold?.restated ?? [], 0, CUT_TO_TOKENS.headAndTail)

  const atShares = yield* until(fittingTokens, yield* countedDraft(frame, uncut), [
    // What is only said again, as far as it can be cut: what tools were looked for by.
    cutRestated,
    // Parts above their share, the one with the least right first.
    unload(olderUser, shares.sure.latestUser),
    cut([olderUser], shares.sure.latestUser, 'headAndTail'),
    cut([task], shares.sure.task, 'headAndTail'),
    cut(round, shares.sure.newestRound, 'headAndTail'),
    unload(cuttableUser, shares.sure.newestUser),
    cut([cuttableUser], shares.sure.newestUser, 'headAndTail'),
    // What is left of the parts has no more than its share, and a right before a recap.
    (draft) => withLessRecap(frame, draft),
    // Frames, names and system messages in between may take more than their part's share: older messages make room.
    (draft) => foldedUpTo(frame, draft, begun.fold),
    cutRestated,
  ])
  if (isUserFixed) return atShares

  const keptTurns = fold?.kept.filter((index) => index !== pins.task) ?? []
  const cuttable = [...round, task, olderUser, newestUser]
  // A view beyond system messages and tools that exceed the budget is the upstream's to judge: a word each helps nobody.
  const hasRoom = fittingTokens > aroundTokens
  const floors = hasRoom ? (['headAndTail', 'words'] as const) : (['headAndTail'] as const)
  return yield* until(fittingTokens, atShares, [
    ...floors.flatMap((floor) => [cut([...round, ...keptTurns], 0, floor), cut(cuttable, 0, floor)]),
    // If a recap does not fit, a mark says that something was left out; at the last not even that.
    (draft) => withBareRecap(frame, draft, MARK_TOKENS),
    (draft) => withBareRecap(frame, draft, 0),
    ...(hasRoom
      ? [
          cut(cuttable, 0, 'oneWord'),
          unload(pins.latestUser, 0),
          (draft: Draft) => foldedWhole(frame, { ...draft, clips: uncut.clips }),
        ]
      : []),
  ])
}

/**
 * The draft with the parts cut down to their share that take more: task and latest user message, and if the newest messages do
 * not come to their share because what lies before them is too large to stay whole, head and tail of that.
 */
export function* cutToShares(frame: Frame, draft: Draft): Pausable<Draft> {
  const cut = yield* withCutUnit(frame, draft)
  return yield* countedDraft(frame, { ...cut, clips: [...cut.clips, ...pinnedClips(frame)] })
}

/**
 * The same, where a compaction ends so far below its aim: task and latest user message get what is left, in this order. A
 * little that is left is left, so that they keep their bytes from one compaction to the next.
 */
export function* withSpare(frame: Frame, draft: Draft, spareTokens: number): Pausable<Draft> {
  const { pins, parts, roomTokens } = frame
  if (spareTokens < roomTokens * SHARE.spare) return yield* countedDraft(frame, draft)
  let left = spareTokens
  let { clips } = draft
  for (const part of ['task', 'latestUser'] as const) {
    const clip = draft.clips.find(({ index }) => index === pins[part])
    if (clip?.kind !== 'content') continue
    const tokensMax = Math.min(parts.sizes[part], Math.floor(clip.tokensMax + left))
    left -= tokensMax - clip.tokensMax
    const others = clips.filter(({ index }) => index !== clip.index)
    clips = tokensMax === parts.sizes[part] ? others : [...others, { ...clip, tokensMax }]
  }
  return yield* countedDraft(frame, { ...draft, clips })
}

// --- internal ---

/** One means of making a view smaller. */
type Step = (draft: Draft) => Pausable<Draft>

/** The steps one after the other, as long as the view is too large. */
function* until(goalTokens: number, begun: Draft, steps: readonly Step[]): Pausable<Draft> {
  let draft = begun
  for (const step of steps) if (draft.tokens > goalTokens) draft = yield* step(draft)
  return draft
}

/** The clips that leave of the unit before the newest messages what their share has room for; the draft as it is if none do. */
function* withCutUnit(frame: Frame, draft: Draft): Pausable<Draft> {
  const { counts, recentFrom, cutUnit: unit, pins } = frame
  const uncut = { ...draft, protectedFrom: recentFrom }
  if (unit === null) return uncut
  const group: number[] = []
  for (let index = unit.from; index < recentFrom; index += 1) if (!isPinned(pins, index)) group.push(index)
  const excessTokens = (yield* tokensOf(counts, draft, group)) - unit.tokensMax
  const cut = { ...draft, protectedFrom: unit.from }
  if (excessTokens <= 0) return cut
  const cuttable = group.filter((index) => !isSystem(counts.history, index))
  const clips = yield* clipGroup(counts, draft, cuttable, excessTokens, CUT_TO_TOKENS.headAndTail)
  return (yield* tokensOf(counts, { ...cut, clips }, group)) <= unit.tokensMax ? { ...cut, clips } : uncut
}

/** What these messages take together under a draft. */
function* tokensOf({ editedTokens }: TokenCounts, draft: Draft, group: Iterable<number>): Pausable<number> {
  const edits = editsOf(draft)
  let tokens = 0
  for (const index of group) tokens += yield* editedTokens(index, index + 1, edits)
  return tokens
}

/**
 * Clips of task and latest user message, where they take more than their share. What was clipped to fit stays the same bytes,
 * and in the provider's cache.
 */
function pinnedClips({ pins, parts, shares, before }: Frame): readonly Clip[] {
  const clips: Clip[] = []
  for (const part of ['task', 'latestUser'] as const) {
    const index = pins[part]
    const tokensMax = shares[part]
    if (parts.sizes[part] <= tokensMax) continue
    const standing = before.clips.find((clip) => clip.index === index)
    const isEnough =
      standing?.kind === 'content' &&
      standing.tokensMax <= tokensMax &&
      standing.tokensMax >= Math.max(shares.sure[part], tokensMax * SHARE.standingClip)
    clips.push(isEnough ? standing : { kind: 'content', index, of: 'kept', tokensMax })
  }
  return clips
}

/**
 * Shortens the messages of a group, the largest first, until their excess is gone. Frames and names cannot
 * be shortened: what stays above its level is set aside, and the others give way for it.
 */
function* clipGroup(
  { editOf, editedTokens }: TokenCounts,
  draft: Draft,
  group: readonly number[],
  excessTokens: number,
  floorTokens: number,
): Pausable<readonly Clip[]> {
  const clips = new Map(draft.clips.map((clip) => [clip.index, clip]))
  const edits = { ...editsOf(draft), clips }
  const unclipped = { ...edits, clips: new Map<number, Clip>(), thoughts: new Set<number>() }
  yield
  const sizes = new Map<number, number>()
  // What a clip of each message starts from: one that was cleared is not clipped, and no thoughts are.
  const open = new Map<number, Extract<Clip, { kind: 'content' }>['of']>()
  for (const index of group) {
    sizes.set(index, yield* editedTokens(index, index + 1, edits))
    const edit = editOf(index, unclipped)
    if (edit !== null && edit.pass !== 'cleared') open.set(index, edit.pass)
  }
  const goalTokens = sum(sizes.values()) - excessTokens
  while (open.size > 0 && sum(sizes.values()) > goalTokens) {
    const openSizes = [...open.keys()].map((index) => sizes.get(index) ?? 0)
    yield
    const level = waterLevel(openSizes, goalTokens - sum(sizes.values()) + sum(openSizes), floorTokens)
    let isLower = false
    for (const [index, of] of open) {
      yield
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

/** The draft with these messages shortened together to `toTokens`, but no further than is needed. */
function* shortened(
  frame: Frame,
  draft: Draft,
  indexes: readonly number[],
  toTokens: number,
  floorTokens: number,
): Pausable<Draft> {
  const { counts, fittingTokens } = frame
  const group = indexes.filter((index) => index !== -1)
  if (group.length === 0) return draft
  yield
  const groupTokens = yield* tokensOf(counts, draft, new Set(group))
  const excessTokens = Math.min(draft.tokens - fittingTokens, groupTokens - toTokens)
  if (excessTokens <= 0) return draft
  const clips = yield* clipGroup(counts, draft, group, excessTokens, floorTokens)
  return yield* countedDraft(frame, { ...draft, clips })
}

/** A user message without its media, the first of them first, as long as it takes more than `toTokens`. */
function* unloaded(frame: Frame, begun: Draft, index: number, toTokens: number): Pausable<Draft> {
  const { history } = frame.counts
  const mediaSizes = index === -1 ? [] : history.mediaSizes(index)
  const others = begun.clips.filter((each) => each.index !== index)
  const without = (count: number): Pausable<Draft> => {
    const clip = { kind: 'media', index, mediaKept: mediaSizes.length - count } as const
    return countedDraft(frame, { ...begun, clips: [...others, clip] })
  }
  // No more than bring it down to its share, and of these the fewest that are enough: there may be thousands.
  let most = 0
  for (let size = history.sizes[index] ?? 0; size > toTokens && most < mediaSizes.length; most += 1)
    size -= mediaSizes[most] ?? 0
  if (most === 0) return begun
  let draft = yield* without(most)
  for (let fewest = 1; draft.tokens <= frame.fittingTokens && fewest < most;) {
    const middle = Math.floor((fewest + most) / 2)
    const tried = yield* without(middle)
    if (tried.tokens > frame.fittingTokens) fewest = middle + 1
    else [most, draft] = [middle, tried]
  }
  return draft
}

/**
 * The same with a shorter recap, no shorter than needed and than what it keeps. Summaries that stand beside it were
 * written for what is folded, and stay.
 */
function* withLessRecap(frame: Frame, begun: Draft): Pausable<Draft> {
  const { fold } = begun
  if (fold === null || fold.summaries.length > 0) return begun
  const recapTokens = fold.beforeTokensMax + fold.afterTokensMax
  const leastTokens = frame.shares.recapMin * SHARE.yieldingRecap + fold.keptTokensMax
  const lessTokens = Math.min(begun.tokens - frame.fittingTokens, recapTokens - leastTokens)
  if (lessTokens <= 0) return begun
  const share = (recapTokens - lessTokens) / recapTokens
  const beforeTokensMax = Math.floor(fold.beforeTokensMax * share)
  const afterTokensMax = Math.floor(fold.afterTokensMax * share)
  return yield* countedDraft(frame, { ...begun, fold: { ...fold, beforeTokensMax, afterTokensMax } })
}

/** The draft with this fold, and the clips of what stands under that. */
function refolded({ pins }: Frame, draft: Draft, fold: Fold | null): Draft {
  const isStaying = isStayingUnder(fold)
  return {
    ...draft,
    fold,
    clips: draft.clips.filter(({ index }) => isStaying(index) || isPinned(pins, index)),
  }
}

/** The same fold with nothing but recaps of so many tokens. */
function* withBareRecap(frame: Frame, draft: Draft, recapTokens: number): Pausable<Draft> {
  if (draft.fold === null) return draft
  const { frontier, kept } = draft.fold
  return yield* countedDraft(frame, { ...draft, fold: bareFold(frame, frontier, kept, recapTokens) })
}

/** All messages before the newest round folded, if the template takes that and the view is smaller then, with as short a recap. */
function* foldedUpTo(frame: Frame, begun: Draft, planned: Fold | null): Pausable<Draft> {
  const { counts, options, pins, parts, shares } = frame
  const frontier = parts.newestFrom
  if (options.strict && templateFits(counts.history, options.point)[frontier] === 'badly') return begun
  if (frontier <= (begun.fold?.frontier ?? -1)) return yield* withLessRecap(frame, begun)
  const isSplit = isLatestPassed(pins, frontier)
  const half = Math.floor(shares.recapMin / 2)
  const fold = {
    ...bareFold(frame, frontier, [], isSplit ? half : shares.recapMin),
    afterTokensMax: isSplit ? half : 0,
    systemTokensMax: Math.min(planned?.systemTokensMax ?? 0, half),
  }
  const folded = yield* countedDraft(frame, refolded(frame, begun, fold))
  return yield* withLessRecap(frame, folded.tokens < begun.tokens ? folded : begun)
}

/** Everything but the pinned messages folded, the newest round included, with as much of a recap as fits. */
function* foldedWhole(frame: Frame, begun: Draft): Pausable<Draft> {
  const { counts, options, pins, fittingTokens } = frame
  const fold = bareFold(frame, options.point, [], 0)
  const bare = yield* countedDraft(frame, refolded(frame, begun, fold))
  const leftTokens = Math.max(0, Math.min(counts.profile.recap.max_tokens, fittingTokens - bare.tokens))
  const last = isLatestPassed(pins, options.point) ? 'afterTokensMax' : 'beforeTokensMax'
  return yield* countedDraft(frame, { ...bare, fold: { ...fold, [last]: leftTokens } })
}
