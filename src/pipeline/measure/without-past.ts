import { pastOf } from '../../compaction/history/history.ts'
import { sum, sumOf } from '../../conversation/sizes.ts'
import type { Counted } from '../request.ts'
import { NOTHING_COUNTED } from './count-tokens.ts'

/**
 * A conversation without the past before the server's own compaction, and of what its user said there without the oldest;
 * null if there is nothing of that, or it leaves enough of so many tokens to what follows. Clients keep all of it for ever, and
 * what cannot be folded would end the conversation.
 */
export function withoutPast(counted: Counted, windowTokens: number): Counted | null {
  const { sizes, structure } = counted.history
  const pastTokens = sumOf(sizes, structure.unkeyedCount, structure.systemCount)
  return pastTokens > windowTokens * PAST_SHARE_MAX ? leavingOut(counted, windowTokens) : null
}

/** The same however little it takes: its upstream may show the model all that it is sent. */
export function leavingOut(counted: Counted, windowTokens: number): Counted | null {
  const { history, room, perMessage } = counted
  const { said, spent } = pastOf(history)
  const omitted = new Set([...history.omitted, ...spent])
  let saidTokens = 0
  for (const index of said.toReversed()) {
    if (!history.omitted.has(index)) saidTokens += history.sizes[index] ?? 0
    // Of what its user said the oldest messages go, for the rest to take no more than their share.
    if (saidTokens > windowTokens * SAID_SHARE) omitted.add(index)
  }
  if (omitted.size === history.omitted.size) return null
  for (const index of leadingSystem(history, omitted)) omitted.add(index)
  const omittedTokens = sum([...omitted].map((index) => history.sizes[index] ?? 0))
  const aroundTokens = counted.aroundTokens - omittedTokens
  const sizes = history.sizes.map((size, index) => (omitted.has(index) ? 0 : size))
  return {
    ...counted,
    history: { ...history, omitted, sizes },
    aroundTokens,
    room: { ...room, aroundTokens: room.aroundTokens - omittedTokens },
    perMessage: perMessage.map((each, index) => (omitted.has(index) ? NOTHING_COUNTED : each)),
  }
}

// --- internal ---

/** What stands before the server's compaction may take so much, … */
const PAST_SHARE_MAX = 0.5

/** … and if it takes more, what its user said there this much: as much as a task has a right to. */
const SAID_SHARE = 0.25

/**
 * The operator's words that would begin the history then, where none may and the client's own does not begin so: what the
 * server has compacted it passes over.
 */
function leadingSystem(
  { dialect, messages, structure }: Counted['history'],
  omitted: ReadonlySet<number>,
): number[] {
  const { unkeyedCount, systemCount } = structure
  const leading: number[] = []
  if (dialect.rules.systemMayLead || unkeyedCount > 0) return leading
  for (let index = 0; index < systemCount; index += 1) {
    if (omitted.has(index)) continue
    if (messages[index]?.facts.role !== 'system') break
    leading.push(index)
  }
  return leading
}
