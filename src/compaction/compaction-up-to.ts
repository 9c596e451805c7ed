import type { Compaction } from './compaction.ts'

/**
 * What of a compaction lies before `point`, for a conversation that is the one it was made for up to there and goes on in
 * another way: the messages before `point` are treated as they were. Null where something that it folded lies behind, or
 * where nothing of it lies before.
 */
export function compactionUpTo(compaction: Compaction, point: number): Compaction | null {
  if (compaction.point <= point) return compaction
  const { fold, task, latestUser } = compaction
  if (task >= point || (fold !== null && fold.frontier > point)) return null
  const clips = compaction.clips.filter(({ index }) => index < point)
  const reach = {
    render: Math.min(compaction.reach.render, point),
    preview: Math.min(compaction.reach.preview, point),
    clear: Math.min(compaction.reach.clear, point),
  }
  const isEmpty = fold === null && clips.length === 0 && Math.max(...Object.values(reach)) === 0
  if (isEmpty) return null
  return { ...compaction, point, latestUser: latestUser < point ? latestUser : -1, reach, clips }
}
