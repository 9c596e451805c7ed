import type { Pausable } from '../json/source.ts'
import { type Compaction, compactionOf, UNTOUCHED } from './compaction.ts'
import { editsOf, isHeld } from './edits.ts'
import { hasBoundThoughts, type Rounds } from './history/history.ts'
import type { TokenCounts } from './token-counts.ts'
import { standingView } from './view/view.ts'
import { originalMessage, type ViewMessage } from './view/view-message.ts'

// Thoughts that a server binds to what stood before them: which of them a compaction keeps, and compactions that change nothing
// but which are sent, because an upstream has refused them or demands them.

/** The one that goes on from `previous` and takes out all thoughts before a point. */
export function unboundCompaction(previous: Compaction | null, point: number): Compaction {
  return compactionOf('thoughts', { ...(previous ?? UNTOUCHED), point, thoughts: [] })
}

/** The same compaction with the thoughts of the newest reply at the end; null if it takes none of them out. */
export function withNewestThoughts(rounds: Rounds, compaction: Compaction): Compaction | null {
  const standing = new Set(compaction.thoughts)
  const newest = newestThoughts(rounds, rounds.messages.length).filter((index) => index < compaction.point)
  if (newest.every((index) => standing.has(index))) return null
  return { ...compaction, thoughts: ascending([...standing, ...newest]) }
}

/** The bound thoughts of the newest reply before a point, ascending. */
export function newestThoughts(rounds: Rounds, point: number): readonly number[] {
  return thoughtsBetween(rounds, rounds.structure.newestRoundStart(point), point)
}

/**
 * The thoughts before a compaction's point that still hold, ascending: they stand under the compaction before it, and nothing
 * before them is sent otherwise than it was. A server that binds thoughts to what stood before them drops all others.
 */
export function* heldThoughts(
  counts: TokenCounts,
  previous: Compaction | null,
  planned: Compaction,
): Pausable<readonly number[]> {
  const { history } = counts
  const { point } = planned
  const start = history.structure.systemCount
  const frontier = planned.fold?.frontier ?? start
  // What is folded further begins before all that is not folded.
  if ((previous?.fold?.frontier ?? start) !== frontier) return []
  // With the first one goes what the server's own compaction stands for, too.
  if (previous === null && start > history.structure.unkeyedCount) return []
  const edits = editsOf(previous ?? UNTOUCHED)
  const standing = thoughtsBetween(history, frontier, point).filter((index) => isHeld(history, edits, index))
  if (standing.length === 0) return []
  const before: ViewMessage[] = []
  if (previous !== null) before.push(...(yield* standingView(counts, previous)))
  for (let index = previous?.point ?? start; index < point; index += 1)
    before.push(originalMessage(history, index))
  const after = yield* standingView(counts, { ...planned, thoughts: standing })
  const stands = new Set(standing)
  const held: number[] = []
  for (const [place, message] of after.entries()) {
    if (!isSame(message, before[place])) break
    // A message that stands without its thoughts already does not get them back.
    if (message.index !== null && stands.has(message.index)) held.push(message.index)
  }
  return held
}

/** Indexes in their order, each once. */
export function ascending(indexes: readonly number[]): readonly number[] {
  return [...new Set(indexes)].sort((one, other) => one - other)
}

// --- internal ---

function thoughtsBetween({ messages }: Rounds, start: number, end: number): readonly number[] {
  const found: number[] = []
  for (const [offset, message] of messages.slice(start, end).entries())
    if (hasBoundThoughts(message)) found.push(start + offset)
  return found
}

function isSame({ item }: ViewMessage, other: ViewMessage | undefined): boolean {
  if (item.kind === 'kept') return other?.item.kind === 'kept' && other.item.index === item.index
  return other?.item.kind === 'made' && other.item.json === item.json
}
