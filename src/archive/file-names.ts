import { join } from 'node:path'
import { isConversationId } from '../stores/conversation-id.ts'

/** The file of a conversation; null where that is no conversation's id, which may come from a store that others write to. */
export function archiveFile(dir: string, conversation: string): string | null {
  return isConversationId(conversation) ? join(dir, conversation + ENDING) : null
}

/** Whether a file of this name may be one that the archive has made. */
export function isArchiveName(name: string): boolean {
  return name.endsWith(ENDING) && isConversationId(name.slice(0, -ENDING.length))
}

// --- internal ---

const ENDING = '.md'
