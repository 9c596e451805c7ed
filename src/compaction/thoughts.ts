import { FOLD_VERSION, type Compaction } from './compaction.ts'
import { UNTOUCHED } from './layout.ts'
import { hasBoundThoughts, type Rounds } from './history/subject.ts'

// Compactions that change nothing but which thoughts are sent: those that an upstream has refused, or demands.

/** The one that goes on from `previous` and takes out all thoughts before a point. */
export function unboundCompaction(previous: Compaction | null, point: number): Compaction {
  const { task, latestUser, reach, fold, clips, cleared } = previous ?? UNTOUCHED
  return {
    version: FOLD_VERSION,
    reason: 'thoughts',
    point,
    task,
    latestUser,
    reach,
    fold,
    clips,
    cleared,
    thoughts: [],
  }
}

/** The same compaction with the thoughts of the newest reply at the end; null if it takes none of them out. */
export function withNewestThoughts(rounds: Rounds, compaction: Compaction): Compaction | null {
  const standing = new Set(compaction.thoughts)
  const newest = newestThoughts(rounds, rounds.messages.length).filter((index) => index < compaction.point)
  if (newest.every((index) => standing.has(index))) return null
  return { ...compaction, thoughts: ascending([...standing, ...newest]) }
}

/** The bound thoughts of the newest reply before a point, ascending. */
export function newestThoughts({ messages, structure }: Rounds, point: number): readonly number[] {
  const found: number[] = []
  for (let index = structure.newestRoundStart(point); index < point; index += 1) {
    const message = messages[index]
    if (message !== undefined && hasBoundThoughts(message)) found.push(index)
  }
  return found
}

/** Indexes in their order, each once. */
export function ascending(indexes: readonly number[]): readonly number[] {
  return [...new Set(indexes)].sort((one, other) => one - other)
}
