import type { PlanFrame } from './frame.ts'
import type { Clip, Compaction } from '../compaction.ts'

/** Whether a message is task or latest user message. */
export function isPinned({ pins }: Pick<PlanFrame, 'pins'>, index: number): boolean {
  return index === pins.task || index === pins.latestUser
}

/** What was clipped before stays clipped; what is pinned now is clipped again only where that is needed. */
export function standingClips(frame: PlanFrame): Compaction['clips'] {
  return frame.before.clips.filter(({ index }) => !isPinned(frame, index))
}

/**
 * Task and latest user message, where they take more than their share. What was clipped to fit stays the same bytes, and in
 * the provider's cache.
 */
export function pinnedClips({ pins, parts, shares, before }: PlanFrame): readonly Clip[] {
  const clipOf = (part: 'task' | 'latestUser'): readonly Clip[] => {
    const index = pins[part]
    const size = parts.sizes[part]
    const tokensMax = shares[part]
    if (size <= tokensMax) return []
    const standing = before.clips.find((clip) => clip.index === index)
    const isEnough =
      standing?.kind === 'content' &&
      standing.tokensMax <= tokensMax &&
      standing.tokensMax >= Math.max(shares.sure[part], tokensMax * STANDING_CLIP_SHARE_MIN)
    return [isEnough ? standing : { kind: 'content', index, of: 'kept', tokensMax }]
  }
  return [...clipOf('task'), ...clipOf('latestUser')]
}

/**
 * The same clips, where a compaction ends so far below its aim: task and latest user message get what is left, in this
 * order. A little that is left is left, so that they keep their bytes from one compaction to the next.
 */
export function withSpare(
  { pins, parts, roomTokens }: PlanFrame,
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

/** A clip that keeps less than this share of what there is room for is made anew. */
const STANDING_CLIP_SHARE_MIN = 0.7

/** What is left of the room is given away where it is more than this share of it. */
const SPARE_SHARE_MIN = 1 / 16
