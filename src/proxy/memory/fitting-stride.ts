import type { Stride } from '../../compaction/stride.ts'
import type { Chat } from '../request/read-chat.ts'

/** A record whose indexes do not fit the conversation is damaged: following none costs a cache miss, no more. */
export function fitting(stride: Stride | null, chat: Chat): Stride | null {
  if (stride === null) return null
  const { systemCount } = chat.structure
  const isInside = (index: number): boolean => index >= systemCount && index <= chat.messages.length
  const isUser = (index: number): boolean =>
    index === -1 || (index < stride.point && chat.messages[index]?.facts.role === 'user')
  const frontier = stride.fold?.frontier ?? systemCount
  // Any other message would stand there without its call or its results.
  const mayStandAlone = (index: number): boolean => {
    const facts = chat.messages[index]?.facts
    return facts?.role === 'user' || (facts?.role === 'assistant' && facts.callIds.length === 0)
  }
  const isSound =
    isInside(stride.point) &&
    isInside(frontier) &&
    frontier <= stride.point &&
    chat.structure.isFrontier(frontier) &&
    isUser(stride.task) &&
    isUser(stride.latestUser) &&
    (stride.fold?.kept ?? []).every(
      (index, position, kept) =>
        index >= systemCount &&
        index < frontier &&
        index > (kept[position - 1] ?? -1) &&
        mayStandAlone(index),
    ) &&
    stride.clips.every(({ index }) => isInside(index) && index < stride.point) &&
    (stride.fold?.summaries ?? []).every(
      ({ start, end }) => start >= systemCount && start < end && end <= frontier,
    )
  return isSound ? stride : null
}
