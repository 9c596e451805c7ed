import { LRUCache } from 'lru-cache'
import type { MessageTreatment } from '../../compaction/report.ts'
import type { HeldMessages, HeldOutline } from '../request-report.ts'

/** A message of the latest request, with its texts if they may be shown and are still held. */
export type ShownMessage = MessageTreatment & {
  /** Its JSON as it came and as it was sent, both cut at some length; null if there is none or it is not held. */
  readonly received: string | null
  readonly sent: string | null
}

/** What became of the messages of each conversation's latest request; their texts only if they may be shown. */
export type HeldContent = {
  readonly hold: (conversation: string, held: HeldMessages) => void
  /** Null if nothing is held of it any more. */
  readonly messages: (conversation: string) => readonly ShownMessage[] | null
  /** What each of them is called. */
  readonly entryName: (conversation: string) => HeldOutline['entryName']
  readonly showsContent: boolean
  readonly forget: (conversation: string) => void
}

/** `showsContent`: whether bodies are held for their texts (`admin.show_content`); if not, only what became of messages. */
export function createHeldContent({ showsContent }: { readonly showsContent: boolean }): HeldContent {
  const outlines = new LRUCache<string, HeldOutline>({
    max: CONVERSATIONS_MAX,
    maxSize: OUTLINE_BYTES_MAX,
  })
  const bodies = new LRUCache<string, HeldMessages>({
    max: CONVERSATIONS_MAX,
    maxSize: BODY_BYTES_MAX,
  })

  return {
    showsContent,
    entryName: (conversation) => outlines.get(conversation)?.entryName ?? 'message',
    hold: (conversation, held) => {
      // One that is too large to be held takes the one before it away.
      outlines.set(conversation, held.outline, { size: Math.max(1, held.outline.bytes) })
      if (showsContent) bodies.set(conversation, held, { size: Math.max(1, held.bytes) })
    },
    messages: (conversation) => {
      const outline = outlines.get(conversation)
      if (outline === undefined) return null
      const texts = bodies.get(conversation)?.texts() ?? []
      const messages = outline.read()
      const charsMax = Math.max(TEXT_CHARS_MIN, Math.min(TEXT_CHARS_MAX, PAGE_CHARS_MAX / messages.length))
      return messages.map((message, place) => ({
        ...message,
        received: shortened(texts[place]?.received ?? null, charsMax),
        sent: shortened(texts[place]?.sent ?? null, charsMax),
      }))
    },
    forget: (conversation) => {
      outlines.delete(conversation)
      bodies.delete(conversation)
    },
  }
}

// --- internal ---

const CONVERSATIONS_MAX = 200

/** What became of messages, of all conversations together, in bytes. */
const OUTLINE_BYTES_MAX = 32 * 1024 * 1024

/** Bodies that are held for their texts, in bytes. */
const BODY_BYTES_MAX = 64 * 1024 * 1024

/** A page is for reading, and made anew whenever something changes: the rest of a message is told by its length. */
const TEXT_CHARS_MAX = 20_000
const TEXT_CHARS_MIN = 300

/** What all messages of a page may have together, about. */
const PAGE_CHARS_MAX = 1_000_000

function shortened(text: string | null, charsMax: number): string | null {
  if (text === null || text.length <= charsMax) return text
  const shown = text.slice(0, charsMax)
  return `${shown}… (${text.length - shown.length} more characters)`
}
