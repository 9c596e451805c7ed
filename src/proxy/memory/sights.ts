import { countBelow } from '../../conversation/count-below.ts'
import { parseJsonText } from '../../conversation/json-value.ts'
import { isConversationId } from '../../stores/conversation-id.ts'
import type { Chat } from '../request/read-chat.ts'

/** A request that is on record: at which point, and what its record says. */
export type SeenRequest = { readonly point: number; readonly sight: Sight }

export type Sight = {
  readonly conversation: string
  readonly parent: string | null
  /** Key of the stride that it stood in. */
  readonly stride: string | null
  /** Key of the next record point of the conversation that went on from it: another one is a branch. */
  readonly next: string | null
}

/** The key of the record point that follows a request in this conversation. */
export function nextKey({ point }: SeenRequest, { structure, keys }: Chat): string | null {
  const next = structure.recordPoints[countBelow(structure.recordPoints, point + 1)]
  return next === undefined ? null : (keys[next] ?? null)
}

/** Whether a conversation goes on from a request in another way than the one that went on from it before. */
export function isBranchOf(seen: SeenRequest, chat: Chat): boolean {
  const { next } = seen.sight
  return seen.point < chat.messages.length && next !== null && next !== nextKey(seen, chat)
}

/** A conversation's name as it is kept: its id, and its parent's behind a blank where it has one. */
export function writeName({ conversation, parent }: Pick<Sight, 'conversation' | 'parent'>): string {
  return parent === null ? conversation : `${conversation} ${parent}`
}

/** Null where the text is no name. */
export function readName(text: string): Pick<Sight, 'conversation' | 'parent'> | null {
  const [conversation = '', parent = null, ...more] = text.split(' ')
  if (!isConversationId(conversation) || more.length > 0) return null
  return parent === null || isConversationId(parent) ? { conversation, parent } : null
}

/** Null where the text is no sight. */
export function readSight(text: string): Sight | null {
  const value = parseJsonText(text)
  if (typeof value !== 'object' || value === null || !('conversation' in value) || !('stride' in value))
    return null
  const { conversation, stride } = value
  if (typeof conversation !== 'string' || !isConversationId(conversation)) return null
  if (stride !== null && typeof stride !== 'string') return null
  const parent = 'parent' in value && typeof value.parent === 'string' ? value.parent : null
  const next = 'next' in value && typeof value.next === 'string' ? value.next : null
  return { conversation, parent: parent !== null && isConversationId(parent) ? parent : null, stride, next }
}
