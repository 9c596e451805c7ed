import { countBelow, type Structure } from '../../conversation/structure.ts'
import type { Profile } from '../../profiles/schema.ts'
import type { Fold, Treatment } from '../compaction.ts'

/** How long a view is, whatever its tokens. */
export type Length = {
  /** Turns that it holds, those included of which only a part is left or only request and reply. */
  readonly turns: number
  /** The client's own messages, without the leading system block. */
  readonly messages: number
}

/** What decides how long a view is: its pinned messages, and the fold without its recaps. */
export type Folded = Pick<Treatment, 'task' | 'latestUser'> & {
  readonly fold: Pick<Fold, 'frontier' | 'kept'> | null
}

/** The length of a compaction's view of the conversation up to `point`; a few look-ups, whatever the length. */
export function lengthOf(structure: Structure, { task, latestUser, fold }: Folded, point: number): Length {
  const { turns, systemCount } = structure
  const frontier = fold?.frontier ?? systemCount
  const kept = fold?.kept ?? []
  const begunBefore = countBelow(turns, frontier)
  const isCutInside = frontier < point && begunBefore > 0 && countBelow(turns, frontier + 1) === begunBefore
  const keptTurns = new Set(kept.map((index) => countBelow(turns, index + 1)))
  const standing = new Set([task, latestUser, ...kept].filter((index) => index !== -1 && index < frontier))
  return {
    turns: countBelow(turns, point) - begunBefore + (isCutInside ? 1 : 0) + keptTurns.size,
    messages: point - frontier + standing.size,
  }
}

/** Whether the profile sets a limit at all. */
export function hasLimit({ limit }: Pick<Profile, 'limit'>): boolean {
  return limited.some((what) => limit[what] > 0)
}

/** Whether a view of this length is over the limit. */
export function isOverLimit({ limit }: Pick<Profile, 'limit'>, length: Length): boolean {
  return limited.some((what) => exceeds(length[what], limit[what]))
}

/**
 * Whether a compaction by length is worth being made. Where the newest messages alone are over the limit, it takes
 * no less than half of what there is: else one would be made at every request, each for another message.
 */
export function bringsDown({ limit }: Pick<Profile, 'limit'>, before: Length, after: Length): boolean {
  return limited.some(
    (what) =>
      exceeds(before[what], limit[what]) &&
      after[what] <= Math.max(limit[what], Math.floor(before[what] / 2)),
  )
}

// --- internal ---

const limited = ['turns', 'messages'] as const

function exceeds(count: number, most: number): boolean {
  return most > 0 && count > most
}
