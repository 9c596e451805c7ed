import type { Compaction } from '../../compaction/compaction.ts'
import { isTalk, type Rounds } from '../../subject/subject.ts'

/** A record whose indexes do not fit the conversation is damaged: following none costs a cache miss, no more. */
export function fitting(compaction: Compaction | null, chat: Rounds): Compaction | null {
  if (compaction === null) return null
  const { systemCount } = chat.structure
  const isInside = (index: number): boolean => index >= systemCount && index <= chat.messages.length
  const isUser = (index: number): boolean =>
    index === -1 || (index < compaction.point && chat.messages[index]?.facts.role === 'user')
  const frontier = compaction.fold?.frontier ?? systemCount
  // Any other message would stand there without its call or its results.
  const mayStandAlone = (index: number): boolean =>
    chat.messages[index]?.facts.role === 'user' || isTalk(chat, index)
  const isSound =
    isInside(compaction.point) &&
    isInside(frontier) &&
    frontier <= compaction.point &&
    chat.structure.isFrontier(frontier) &&
    isUser(compaction.task) &&
    isUser(compaction.latestUser) &&
    (compaction.fold?.kept ?? []).every(
      (index, position, kept) =>
        index >= systemCount &&
        index < frontier &&
        index > (kept[position - 1] ?? -1) &&
        mayStandAlone(index),
    ) &&
    [...compaction.clips.map(({ index }) => index), ...compaction.thoughts].every(
      (index) => isInside(index) && index < compaction.point,
    ) &&
    (compaction.fold?.summaries ?? []).every(
      ({ start, end }) => start >= systemCount && start < end && end <= frontier,
    )
  return isSound ? compaction : null
}
