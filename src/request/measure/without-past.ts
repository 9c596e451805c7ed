import { oldestSaid, pastOf } from '../../compaction/past.ts'
import { sumOf } from '../../compaction/size-sums.ts'
import type { Counted } from '../request.ts'

/**
 * A conversation without the past before the server's own compaction, and of what its user said there without the oldest;
 * null if there is nothing of that, or it leaves enough of so many tokens to what follows. Clients keep all of it for ever, and
 * what cannot be folded would end the conversation.
 */
export function withoutPast(counted: Counted, windowTokens: number): Counted | null {
  const { sizes, structure } = counted.subject
  const pastTokens = sumOf(sizes, structure.unkeyedCount, structure.systemCount)
  return pastTokens > windowTokens * PAST_SHARE_MAX ? leavingOut(counted, windowTokens) : null
}

/** The same however little it takes: its upstream may show the model all that it is sent. */
export function leavingOut(counted: Counted, windowTokens: number): Counted | null {
  const { subject, room, perMessage } = counted
  const { said, spent } = pastOf(subject)
  const standing = said.filter((index) => !subject.omitted.has(index))
  const oldest = oldestSaid(standing, subject.sizes, windowTokens * SAID_SHARE)
  const omitted = new Set([...subject.omitted, ...spent, ...oldest])
  if (omitted.size === subject.omitted.size) return null
  let omittedTokens = 0
  for (const index of omitted) omittedTokens += subject.sizes[index] ?? 0
  const aroundTokens = counted.aroundTokens - omittedTokens
  const sizes = subject.sizes.map((size, index) => (omitted.has(index) ? 0 : size))
  return {
    ...counted,
    subject: { ...subject, omitted, sizes },
    aroundTokens,
    room: { ...room, aroundTokens: room.aroundTokens - omittedTokens },
    perMessage: perMessage.map((each, index) => (omitted.has(index) ? NOTHING : each)),
  }
}

// --- internal ---

/** What stands before the server's compaction may take so much, … */
const PAST_SHARE_MAX = 0.5

/** … and if it takes more, what its user said there this much: as much as a task has a right to. */
const SAID_SHARE = 0.25

const NOTHING = { tokens: 0, mediaTokens: 0, thoughtTokens: 0, boundTokens: 0 }
