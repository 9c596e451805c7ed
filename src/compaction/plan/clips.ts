import type { Steps } from '../../conversation/source.ts'
import { waterLevel } from '../../conversation/water-level.ts'
import type { Clip, Compaction } from '../compaction.ts'
import { sum } from '../../subject/size-sums.ts'
import { isSystem } from '../../subject/subject.ts'
import { type TokenCounts } from '../token-counts.ts'
import { editsOf, NO_EDITS, type Editing } from '../edits.ts'
import type { Draft } from './draft.ts'
import { isPinned, type Frame } from './frame.ts'

/** A clipped message keeps about this much: a mark, and a few lines of its head and tail. */
export const HEAD_AND_TAIL_TOKENS = 64

/**
 * Shortens the messages of a group, the largest first, until their excess is gone. Frames and names cannot
 * be shortened: what stays above its level is set aside, and the others give way for it.
 */
export function* clipGroup(
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
      const shortened = yield* editedTokens(index, index + 1, edits)
      // What cannot be brought to the level is set aside: that alone lowers the level for the others.
      if (shortened > level && open.delete(index)) isLower = true
      if (shortened >= size) {
        if (earlier === undefined) clips.delete(index)
        else clips.set(index, earlier)
        continue
      }
      sizes.set(index, shortened)
      isLower = true
    }
    if (!isLower) break
    yield
  }
  yield
  return [...clips.values()]
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

/** Messages that are shortened, or left as they are, between two pauses. */
const CLIPS_PER_STEP = 1_024

/** A clip that keeps less than this share of what there is room for is made anew. */
const STANDING_CLIP_SHARE_MIN = 0.7

/** What is left of the room is given away where it is more than this share of it. */
const SPARE_SHARE_MIN = 1 / 16
