import { z } from 'zod'
import { parseJsonText } from '../../conversation/json-value.ts'
import { isConversationId } from '../../conversation/conversation-id.ts'
import type { SeenRequest } from '../request.ts'

/** A conversation's name as it is kept: its id, and its parent's behind a blank where it has one. */
export function writeName({ conversation, parent }: ConversationName): string {
  return parent === null ? conversation : `${conversation} ${parent}`
}

/** Null where the text is no name. */
export function readName(text: string): ConversationName | null {
  const [conversation = '', parent = null, ...more] = text.split(' ')
  if (!isConversationId(conversation) || more.length > 0) return null
  return parent === null || isConversationId(parent) ? { conversation, parent } : null
}

/** A seen request as text for the store: what is rare is written only where it is there. */
export function writeSeen({ partedAt, inner, ...seen }: SeenRequest): string {
  return JSON.stringify({ ...seen, ...(partedAt !== null && { partedAt }), ...(inner && { inner }) })
}

/** Null where the text is none. */
export function readSeen(text: string): SeenRequest | null {
  return seenRequest.safeParse(parseJsonText(text)).data ?? null
}

// --- internal ---

type ConversationName = Pick<SeenRequest, 'conversation' | 'parent'>

const conversationId = z.string().refine(isConversationId)
const key = z.string().nullable()

/** A damaged member other than the id and the compaction is taken as absent. */
const seenRequest = z.object({
  conversation: conversationId,
  parent: conversationId.nullable().catch(null),
  compaction: key,
  next: key.catch(null),
  partedAt: key.catch(null),
  inner: z.boolean().catch(false),
})
