import type { Steps } from '../../conversation/source.ts'
import type { Compaction } from '../compaction.ts'
import { editsOf, isHeld } from '../edits.ts'
import { UNTOUCHED } from '../layout.ts'
import { hasBoundThoughts } from '../../subject/subject.ts'
import type { TokenCounts } from '../token-counts.ts'
import { standingView } from '../view/view.ts'
import { originalMessage, type ViewMessage } from '../view/view-message.ts'

/**
 * The thoughts before a compaction's point that still hold, ascending: they stand under the compaction before it, and nothing
 * before them is sent otherwise than it was. A server that binds thoughts to what stood before them drops all others.
 */
export function* heldThoughts(
  counts: TokenCounts,
  previous: Compaction | null,
  planned: Compaction,
): Steps<readonly number[]> {
  const { subject } = counts
  const { point } = planned
  const start = subject.structure.systemCount
  // What is folded further begins before all that is not folded.
  if ((previous?.fold?.frontier ?? start) !== (planned.fold?.frontier ?? start)) return []
  const edits = editsOf(previous ?? UNTOUCHED)
  // With the first one goes what the server's own compaction stands for, too.
  if (previous === null && start > subject.structure.unkeyedCount) return []
  const standing: number[] = []
  for (let index = planned.fold?.frontier ?? start; index < point; index += 1)
    if (areThoughts(counts, index) && isHeld(subject, edits, index)) standing.push(index)
  if (standing.length === 0) return []
  const before: ViewMessage[] = []
  if (previous !== null) before.push(...(yield* standingView(counts, previous)))
  for (let index = previous?.point ?? start; index < point; index += 1)
    before.push(originalMessage(subject, index))
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

// --- internal ---

function areThoughts({ subject }: TokenCounts, index: number): boolean {
  const message = subject.messages[index]
  return message !== undefined && hasBoundThoughts(message)
}

function isSame({ item }: ViewMessage, other: ViewMessage | undefined): boolean {
  if (item.kind === 'kept') return other?.item.kind === 'kept' && other.item.index === item.index
  return other?.item.kind === 'made' && other.item.json === item.json
}
