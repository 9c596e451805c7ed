import { join } from 'node:path'
import { isConversationId } from '../conversation/conversation-id.ts'

/** The file of a conversation; null where that is no conversation's id, which may come from a store that others write to. */
export function archiveFile(dir: string, conversation: string): string | null {
  return isConversationId(conversation) ? join(dir, conversation + ENDING) : null
}

/** The conversation whose file may have this name; null where the archive makes none of that name. */
export function archivedConversation(name: string): string | null {
  const conversation = name.slice(0, -ENDING.length)
  return name.endsWith(ENDING) && isConversationId(conversation) ? conversation : null
}

// --- internal ---

const ENDING = '.md'
