import { LRUCache } from 'lru-cache'
import type { MessageTreatment } from '../../compaction/outline.ts'
import type { HeldMessages, HeldOutline, HeldText, Opening } from '../request-report.ts'

/** A message of the latest request, with its texts, each cut at some length, if they may be shown and are still held. */
export type ShownMessage = MessageTreatment &
  HeldText & {
    /** How long it is as it came, in bytes; 0 for a summary or a recap. */
    readonly bytes: number
  }

export type HeldContent = ReturnType<typeof createHeldContent>

/**
 * What became of the messages of each conversation's latest request. `showsContent`: whether bodies are held for their
 * texts, too (`admin.show_content`).
 */
export function createHeldContent({ showsContent }: { readonly showsContent: boolean }) {
  const outlines = new LRUCache<string, HeldOutline>({
    max: CONVERSATIONS_MAX,
    maxSize: OUTLINE_BYTES_MAX,
  })
  const bodies = new LRUCache<string, HeldMessages>({
    max: CONVERSATIONS_MAX,
    maxSize: BODY_BYTES_MAX,
  })
  const openings = new LRUCache<string, Opening>({ max: OPENINGS_MAX })

  return {
    /** What conversations begin with, as far as that may be shown; only some that are asked for anew are read at once. */
    openings: (conversations: readonly string[]): ReadonlyMap<string, Opening> => {
      const found = new Map<string, Opening>()
      let readAnew = 0
      for (const conversation of conversations) {
        let opening = openings.get(conversation)
        // The page is not to move a body in the order in which they go.
        const body = opening === undefined ? bodies.peek(conversation) : undefined
        if (body !== undefined && readAnew < OPENINGS_READ_MAX) {
          readAnew += 1
          opening = body.opening()
          openings.set(conversation, opening)
        }
        if (opening !== undefined) found.set(conversation, opening)
      }
      return found
    },
    hold: (conversation: string, held: HeldMessages): void => {
      // One that is too large to be held takes the one before it away.
      outlines.set(conversation, held.outline, { size: Math.max(1, held.outline.bytes) })
      if (showsContent) bodies.set(conversation, held, { size: Math.max(1, held.bytes) })
    },
    /** What a page shows of the latest request of a conversation. */
    shown: (conversation: string) => {
      const outline = outlines.get(conversation)
      return {
        /** What became of each message; null if nothing is held of it any more. */
        messages:
          outline === undefined ? null : shownMessages(outline, bodies.get(conversation)?.texts() ?? []),
        /** What each of them is called in the API that it came by. */
        entry_name: outline?.entryName ?? ('message' as const),
        /** What stands around them; null where they are not held. */
        around: outline?.around ?? null,
        /** Whether texts are shown if they are held (`admin.show_content`). */
        shows_content: showsContent,
      }
    },
    forget: (conversation: string): void => {
      outlines.delete(conversation)
      bodies.delete(conversation)
      openings.delete(conversation)
    },
  }
}

// --- internal ---

const CONVERSATIONS_MAX = 200

/** What conversations begin with: a few hundred bytes each, and how many are read at once: about a millisecond each. */
const OPENINGS_MAX = 1_000
const OPENINGS_READ_MAX = 20

const NAME_CHARS_MAX = 200

/** What became of messages, of all conversations together, in bytes. */
const OUTLINE_BYTES_MAX = 32 * 1024 * 1024

/** Bodies that are held for their texts, in bytes. */
const BODY_BYTES_MAX = 64 * 1024 * 1024

/** A page is for reading, and made anew whenever something changes: the rest of a message is told by its length. */
const TEXT_CHARS_MAX = 20_000
const TEXT_CHARS_MIN = 300

/** What all messages of a page may have together, about. */
const PAGE_CHARS_MAX = 1_000_000

/** Calls of one message whose arguments are shown. */
const CALLS_MAX = 32

const unheldText: HeldText = { received: null, sent: null, receivedText: null, sentText: null, calls: [] }

function shownMessages(outline: HeldOutline, texts: readonly HeldText[]): readonly ShownMessage[] {
  const messages = outline.read()
  const bytes = outline.byteSizes()
  const charsMax = Math.max(TEXT_CHARS_MIN, Math.min(TEXT_CHARS_MAX, PAGE_CHARS_MAX / messages.length))
  return messages.map((message, place) => ({
    ...message,
    bytes: message.index === null ? 0 : (bytes[message.index] ?? 0),
    ...shortenedText(texts[place] ?? unheldText, charsMax),
  }))
}

function shortenedText(held: HeldText, charsMax: number): HeldText {
  return {
    received: shortened(held.received, charsMax),
    sent: shortened(held.sent, charsMax),
    receivedText: shortened(held.receivedText, charsMax),
    sentText: shortened(held.sentText, charsMax),
    calls: held.calls.slice(0, CALLS_MAX).map(({ name, argumentsText }) => ({
      name: name.slice(0, NAME_CHARS_MAX),
      argumentsText: argumentsText.slice(0, charsMax),
    })),
  }
}

function shortened(text: string | null, charsMax: number): string | null {
  if (text === null || text.length <= charsMax) return text
  const shown = text.slice(0, charsMax)
  return `${shown}… (${text.length - shown.length} more characters)`
}
