import { countBelow } from '../../conversation/count-below.ts'
import type { Chat, FoundRequest } from '../request.ts'

/**
 * Where a conversation is looked for, from its end down. All conversations are the same up to the end of the leading
 * system block, which is no part of their keys.
 */
export function findingPoints({ structure, messages }: Chat): readonly number[] {
  const { recordPoints, systemCount } = structure
  const points: number[] = []
  for (let at = recordPoints.length - 1; at >= 0; at -= 1) {
    const point = recordPoints[at] ?? 0
    if (point > systemCount || point === messages.length) points.push(point)
  }
  return points
}

/** How many points are looked up at once, the first `start` having been: a conversation was mostly seen at one of its latest. */
export function lookupEnd(start: number): number {
  return start + (start === 0 ? POINTS_AT_FIRST : POINTS_PER_LOOKUP)
}

/**
 * Where a request is recorded beside its end: at its last request points since the one that it goes on from. One that
 * simply goes on has none there; a reply in several messages is one.
 */
export function innerPoints({ structure, messages }: Chat, found: FoundRequest | null): readonly number[] {
  const { requestPoints, systemCount } = structure
  const since = Math.max(systemCount, found?.point ?? 0)
  const first = countBelow(requestPoints, since + 1)
  const points: number[] = []
  // From the end: of tens of thousands only the last ones count.
  for (let at = requestPoints.length - 2; at >= first && points.length < INNER_POINTS_MAX; at -= 1) {
    const point = requestPoints[at] ?? 0
    if (messages[point - 1]?.facts.role !== 'assistant') points.unshift(point)
  }
  return points
}

// --- internal ---

const POINTS_AT_FIRST = 16
const POINTS_PER_LOOKUP = 256

/**
 * Beginnings of a request that are recorded beside its end. Agents that show only the newest five results whole edit the
 * sixth at each request.
 */
const INNER_POINTS_MAX = 8
