import { LRUCache } from 'lru-cache'
import type { MessageTreatment } from '../../compaction/report.ts'
import type { HeldMessages, RequestReport } from '../../proxy/report/request-report.ts'
import type { ShownMessage } from './conversation-cards.ts'

/** What became of the messages of each conversation's latest request; their texts only where they may be shown. */
export type HeldContent = {
  readonly hold: (report: Pick<RequestReport, 'conversation' | 'held'>) => void
  /** Null where nothing is held of it any more. */
  readonly messages: (conversation: string) => readonly ShownMessage[] | null
  readonly showsContent: boolean
  readonly forget: (conversation: string) => void
}

/** `showsContent`: whether bodies are held for their texts (`admin.show_content`); else only what became of messages. */
export function createHeldContent({ showsContent }: { readonly showsContent: boolean }): HeldContent {
  const outlines = new LRUCache<string, readonly MessageTreatment[]>({
    max: CONVERSATIONS_MAX,
    maxSize: MESSAGES_MAX,
    sizeCalculation: (outline) => Math.max(1, outline.length),
  })
  const bodies = new LRUCache<string, HeldMessages>({
    max: CONVERSATIONS_MAX,
    maxSize: BYTES_MAX,
    sizeCalculation: ({ bytes }) => Math.max(1, bytes),
  })

  return {
    showsContent,
    hold: ({ conversation, held }) => {
      if (conversation === null || held === null) return
      if (showsContent) {
        // One that is too large to be held must not leave the one before it standing.
        bodies.delete(conversation)
        bodies.set(conversation, held)
      }
      if (!bodies.has(conversation)) outlines.set(conversation, held.outline())
      else outlines.delete(conversation)
    },
    messages: (conversation) => {
      const body = bodies.get(conversation)
      if (body !== undefined) {
        const texts = body.texts()
        return body.outline().map((message, place) => ({
          ...message,
          received: shortened(texts[place]?.received ?? null),
          sent: shortened(texts[place]?.sent ?? null),
        }))
      }
      const outline = outlines.get(conversation)
      return outline?.map((message) => ({ ...message, received: null, sent: null })) ?? null
    },
    forget: (conversation) => {
      outlines.delete(conversation)
      bodies.delete(conversation)
    },
  }
}

// --- internal ---

const CONVERSATIONS_MAX = 200

/** Messages of all outlines together: about 150 bytes each. */
const MESSAGES_MAX = 100_000

/** Bodies that are held for their texts, in bytes. */
const BYTES_MAX = 64 * 1024 * 1024

/** A page is for reading; the rest of a long message is told by its length. */
const TEXT_CHARS_MAX = 20_000

function shortened(text: string | null): string | null {
  if (text === null || text.length <= TEXT_CHARS_MAX) return text
  return `${text.slice(0, TEXT_CHARS_MAX)}… (${text.length - TEXT_CHARS_MAX} more characters)`
}
