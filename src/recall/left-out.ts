import type { Compacted } from '../compaction/compact.ts'
import type { MadeHow } from '../compaction/made-cache.ts'
import { outlineOf } from '../compaction/report.ts'
import type { Subject } from '../subject/subject.ts'

/** A message that does not stand in the view word for word, and what became of it. */
export type LeftOut = {
  readonly index: number
  readonly how: Exclude<MadeHow, 'unbound' | 'resolved'> | 'folded' | 'dropped'
}

/** The messages that cannot be read in the view word for word, ascending. */
export function leftOutOf(subject: Subject, compacted: Compacted | null): readonly LeftOut[] {
  if (compacted === null) return []
  const joined = new Map(
    compacted.view.messages.flatMap((message) => message.joined.map(({ index, how }) => [index, how])),
  )
  return outlineOf(subject, compacted).flatMap(({ index, treatment }) => {
    // What was joined to another message stands there as it was made before.
    const how = treatment === 'joined' ? (joined.get(index) ?? 'kept') : treatment
    // Of one that lost its thoughts all that it says stands there.
    if (
      index === null ||
      how === 'kept' ||
      how === 'unbound' ||
      how === 'resolved' ||
      how === 'summary' ||
      how === 'recap'
    )
      return []
    return [{ index, how: how === 'outdated' ? 'dropped' : how }]
  })
}
