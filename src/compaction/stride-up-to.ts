import type { Stride } from './stride.ts'

/**
 * What of a stride lies before `point`, for a conversation that is the one it was made for up to there and goes on in
 * another way: the messages before `point` are treated as they were. Null where something that it folded lies behind, or
 * where nothing of it lies before.
 */
export function strideUpTo(stride: Stride, point: number): Stride | null {
  if (stride.point <= point) return stride
  const { fold, task, latestUser } = stride
  if (task >= point || (fold !== null && fold.frontier > point)) return null
  const clips = stride.clips.filter(({ index }) => index < point)
  const reach = {
    render: Math.min(stride.reach.render, point),
    preview: Math.min(stride.reach.preview, point),
    clear: Math.min(stride.reach.clear, point),
  }
  const isEmpty = fold === null && clips.length === 0 && Math.max(...Object.values(reach)) === 0
  if (isEmpty) return null
  return { ...stride, point, latestUser: latestUser < point ? latestUser : -1, reach, clips }
}
