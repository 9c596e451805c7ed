import type { ExplainedMessage } from '../explanation.ts'

/** Neighbouring messages that are told together. */
export type MessageGroup = readonly [ExplainedMessage, ...ExplainedMessage[]]

/**
 * Messages for people to read: one by one while there are few, else in runs. A run is of one treatment; where treatments
 * change all the time, as with calls that stay and results that are cleared, the short runs are told together.
 */
export function messageGroups(messages: readonly ExplainedMessage[]): readonly MessageGroup[] {
  if (messages.length <= FEW) return messages.map((message) => [message])
  const runs = grouped(
    messages.map((message): MessageGroup => [message]),
    (one, other) => isAlike(one[0], other[0]),
  )
  const mixed = grouped(runs, (one, other) => isShort(one) && isShort(other))
  return mixed.flatMap((group) =>
    group.length < RUN_MIN ? group.map((each): MessageGroup => [each]) : [group],
  )
}

// --- internal ---

/** So many messages are read one by one. */
const FEW = 30

/** Fewer than this are no run. */
const RUN_MIN = 3

/** A run below this is told with its neighbours. */
const SHORT_MAX = 8

function grouped(
  groups: readonly MessageGroup[],
  belongTogether: (last: MessageGroup, next: MessageGroup) => boolean,
): readonly MessageGroup[] {
  const result: MessageGroup[] = []
  let last: MessageGroup | undefined
  for (const next of groups) {
    // What is told together is judged by what came in last.
    const joins = last !== undefined && belongTogether(last, next)
    const standing = joins ? result.pop() : undefined
    result.push(standing === undefined ? next : [...standing, ...next])
    last = next
  }
  return result
}

function isAlike(one: ExplainedMessage, other: ExplainedMessage): boolean {
  const areTheClients = one.index !== null && other.index !== null
  return areTheClients && one.treatment === other.treatment && one.pinned === other.pinned
}

/** Nothing that is pinned or that Foldgate wrote is told with others. */
function isShort(group: MessageGroup): boolean {
  return group.length < SHORT_MAX && group.every(({ index, pinned }) => index !== null && pinned === null)
}
