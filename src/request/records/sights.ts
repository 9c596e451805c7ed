import type { Sight } from '../request.ts'
import { parseJsonText } from '../../conversation/json-value.ts'
import { isConversationId } from '../../stores/conversation-id.ts'

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

/** A sight as text for the store: what is rare is written only where it is there. */
export function writeSight({ partedAt, inner, ...sight }: Sight): string {
  return JSON.stringify({ ...sight, ...(partedAt !== null && { partedAt }), ...(inner && { inner }) })
}

/** Null where the text is no sight. */
export function readSight(text: string): Sight | null {
  const value = parseJsonText(text)
  if (typeof value !== 'object' || value === null || !('conversation' in value) || !('compaction' in value))
    return null
  const { conversation, compaction } = value
  if (typeof conversation !== 'string' || !isConversationId(conversation)) return null
  if (compaction !== null && typeof compaction !== 'string') return null
  const parent = 'parent' in value && typeof value.parent === 'string' ? value.parent : null
  const next = 'next' in value && typeof value.next === 'string' ? value.next : null
  const partedAt = 'partedAt' in value && typeof value.partedAt === 'string' ? value.partedAt : null
  return {
    conversation,
    parent: parent !== null && isConversationId(parent) ? parent : null,
    compaction,
    next,
    partedAt,
    inner: 'inner' in value && value.inner === true,
  }
}
