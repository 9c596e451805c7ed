import type { Steps } from '../../conversation/source.ts'
import { clipsByIndex } from '../layout.ts'
import type { Ledger } from '../ledger.ts'
import type { Reach, Compaction } from '../compaction.ts'
import type { Subject } from '../subject.ts'

/** The passes that treat single messages, cheapest first. */
export const treatingPasses = ['render', 'preview', 'clear'] as const

/**
 * Where a pass that begins at `start` may reach: up to the protected tail, and not into the newest results that it keeps.
 * What is folded is not looked through for them: where there are none it would be, from every request point anew.
 */
export function passEnd(
  subject: Subject,
  { start, point, protectedFrom }: { start: number; point: number; protectedFrom: number },
  keepResults: number,
): number {
  let left = keepResults
  let end = point
  while (end > start && left > 0) {
    end -= 1
    if (subject.messages[end]?.facts.role === 'tool') left -= 1
  }
  return Math.min(end, protectedFrom)
}

export type Reaching = {
  readonly reach: Reach
  readonly clips: Compaction['clips']
  /** The first message that a pass can treat: what lies before is folded. */
  readonly start: number
  readonly end: number
  readonly tokens: number
  readonly goalTokens: number
}

/** How far a pass has to reach: over the oldest messages first, until the view is down to its goal. */
export function* reachFor(ledger: Ledger, pass: keyof Reach, from: Reaching): Steps<Reach> {
  const clips = clipsByIndex(from.clips)
  let { reach, tokens } = from
  for (
    let index = Math.max(from.start, reach[pass]);
    index < from.end && tokens > from.goalTokens;
    index += 1
  ) {
    const further = { ...reach, [pass]: index + 1 }
    tokens -= yield* ledger.treatedTokens(index, index + 1, reach, clips)
    tokens += yield* ledger.treatedTokens(index, index + 1, further, clips)
    reach = further
  }
  return reach
}
