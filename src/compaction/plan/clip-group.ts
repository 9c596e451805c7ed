import type { Steps } from '../../conversation/source.ts'
import { waterLevel } from '../../conversation/water-level.ts'
import { NO_CLIPS } from '../layout.ts'
import type { Ledger } from '../ledger.ts'
import { sum } from '../size-sums.ts'
import type { Clip, Clippable, Reach } from '../compaction.ts'

/** A clipped message keeps about this much: a mark, and a few lines of its head and tail. */
export const HEAD_AND_TAIL_TOKENS = 64

/**
 * Shortens the messages of a group, the largest first, until their excess is gone. Frames and names cannot
 * be shortened: what stays above its level is set aside, and the others give way for it.
 */
export function* clipGroup(
  ledger: Ledger,
  reach: Reach,
  clips: readonly Clip[],
  group: readonly number[],
  excessTokens: number,
  floorTokens: number,
): Steps<readonly Clip[]> {
  const byIndex = new Map(clips.map((clip) => [clip.index, clip]))
  const sizeOf = (index: number): Steps<number> =>
    ledger.treatedTokens(index, index + 1, reach, { byIndex, furthest: index })
  const sizes = new Map<number, number>()
  for (const index of group) sizes.set(index, yield* sizeOf(index))
  const goalTokens = sum(sizes.values()) - excessTokens
  const open = new Set(group.filter((index) => clippableAs(ledger, reach, index) !== null))
  while (open.size > 0 && sum(sizes.values()) > goalTokens) {
    const openSizes = [...open].map((index) => sizes.get(index) ?? 0)
    const level = waterLevel(openSizes, goalTokens - sum(sizes.values()) + sum(openSizes), floorTokens)
    let isLower = false
    for (const index of open) {
      const size = sizes.get(index) ?? 0
      const of = clippableAs(ledger, reach, index)
      if (size <= level || of === null) continue
      const earlier = byIndex.get(index)
      byIndex.set(index, { kind: 'content', index, of, tokensMax: level })
      const shortened = yield* sizeOf(index)
      // What cannot be brought to the level is set aside: that alone lowers the level for the others.
      if (shortened > level && open.delete(index)) isLower = true
      if (shortened >= size) {
        if (earlier === undefined) byIndex.delete(index)
        else byIndex.set(index, earlier)
        continue
      }
      sizes.set(index, shortened)
      isLower = true
    }
    if (!isLower) break
  }
  return [...byIndex.values()]
}

// --- internal ---

/** What a clip of this message starts from; null where the message was cleared. */
function clippableAs(ledger: Ledger, reach: Reach, index: number): Clippable | null {
  const { kind } = ledger.treatment(index, reach, NO_CLIPS)
  return kind === 'kept' || kind === 'rendered' || kind === 'previewed' ? kind : null
}
