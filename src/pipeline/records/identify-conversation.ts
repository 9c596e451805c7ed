import { z } from 'zod'
import { isConversationId } from '../../conversation/prefix-keys.ts'
import { parseJsonText } from '../../json/json-value.ts'
import type { KeyedConversation } from '../../summaries/summary-record.ts'

// Requests that were seen, and which conversation one belongs to that goes on from such. A conversation forks only when both
// ways go on: an end that was edited, retried or written anew is the same conversation, and whichever end is gone on from first
// keeps the id.

/** A request that was seen, as it is on record. */
export type SeenRequest = Readonly<z.output<typeof seenRequest>>

/** The seen request that a conversation goes on from, and at which of its points that stands. */
export type FoundRequest = { readonly point: number; readonly seen: SeenRequest }

/** A seen request with the meaning key that it is recorded under. */
export type KeyedRequest = { readonly key: string; readonly seen: SeenRequest }

/** Which conversation a request belongs to. */
type Identity = {
  /** Null for a fork that begins with this request. */
  readonly conversation: string | null
  /** The conversation that it forked from; null where it did not. */
  readonly parent: string | null
  /** Seen requests that say something else from this request on. */
  readonly changed: readonly KeyedRequest[]
}

/** The seen request under a meaning key; null if there is none. */
type SeenAt = (key: string) => Promise<SeenRequest | null>

/** The conversation of a request that goes on from one on record. */
export async function identityOf(
  found: FoundRequest,
  chat: KeyedConversation,
  seenAt: SeenAt,
): Promise<Identity> {
  const { seen, point } = found
  const own = { conversation: seen.conversation, parent: seen.parent, changed: [] }
  const key = chat.keys[point] ?? ''
  if (point === chat.messages.length) return own
  // Another one went on from there before, in another way.
  const isFork = seen.next !== null && !leadsThrough(seen.next, point, chat)
  const forkKey = isFork ? key : seen.next === null ? seen.partedAt : null
  const forkedFrom = isFork ? seen : forkKey === null ? null : await seenAt(forkKey)
  const otherKey = forkedFrom?.next ?? null
  if (forkKey === null || forkedFrom === null || otherKey === null || otherKey === key) return own
  const other = await newestEnd(otherKey, isFork ? null : seen.conversation, seenAt)
  if (other === 'went-on') return { conversation: null, parent: seen.conversation, changed: [] }
  if (other === null) return own
  const replaced = { key: other.key, seen: { ...other.seen, partedAt: forkKey } }
  // The newest way is followed, which may be a fork itself.
  if (isFork) return { conversation: other.seen.conversation, parent: other.seen.parent, changed: [replaced] }
  return { ...own, changed: [replaced, { key: forkKey, seen: { ...forkedFrom, next: key } }] }
}

/** The request that this one goes on from, as it is to be recorded; empty where that led here before. */
export function followed({ seen, point }: FoundRequest, chat: KeyedConversation): readonly KeyedRequest[] {
  if (seen.next !== null && leadsThrough(seen.next, point, chat)) return []
  return [{ key: chat.keys[point] ?? '', seen: { ...seen, next: chat.keys[chat.messages.length] ?? '' } }]
}

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
export function writeSeen({ conversation, parent, compaction, next, partedAt, inner }: SeenRequest): string {
  const rare = { partedAt: partedAt ?? undefined, inner: inner || undefined }
  return JSON.stringify({ conversation, parent, compaction, next, ...rare })
}

/** Null where the text is none. */
export function readSeen(text: string): SeenRequest | null {
  return seenRequest.safeParse(parseJsonText(text)).data ?? null
}

// --- internal ---

/** Whether the prefix with this key is one of the conversation's own, longer than its first `point` messages. */
function leadsThrough(key: string, point: number, { structure, keys }: KeyedConversation): boolean {
  for (const following of structure.recordPoints)
    if (following > point && keys[following] === key) return true
  return false
}

/**
 * More replaced ends in a row than this, each behind the one before, are a way that went on. aider asks up to four times
 * before it puts its files behind what was said, and its next request has no more in common with the fourth of these
 * than with the first.
 */
const REPLACED_MAX = 4

/**
 * The end that took the place of this one, if any did; null where it is not known any more. Where another conversation
 * has taken the place, this one went on: else it would not be another. `conversation` null: that of the first.
 */
async function newestEnd(
  from: string,
  conversation: string | null,
  seenAt: SeenAt,
): Promise<KeyedRequest | 'went-on' | null> {
  let key = from
  let expected = conversation
  for (let replaced = 0; replaced <= REPLACED_MAX; replaced += 1) {
    const seen = await seenAt(key)
    if (seen === null) return null
    expected ??= seen.conversation
    if (seen.next !== null || seen.conversation !== expected) return 'went-on'
    const fork = seen.partedAt === null ? null : await seenAt(seen.partedAt)
    const by = fork?.next ?? key
    if (by === key) return { key, seen }
    key = by
  }
  return 'went-on'
}

type ConversationName = Pick<SeenRequest, 'conversation' | 'parent'>

const idText = z.string().refine(isConversationId)
const keyText = z.string().nullable()

/** A damaged member other than the id and the compaction is taken as absent. */
const seenRequest = z.object({
  conversation: idText,
  parent: idText.nullable().catch(null),
  /** Key of the compaction that it stood in. */
  compaction: keyText,
  /** Key of the request that went on from here last: one that goes on in another way forks here. */
  next: keyText.catch(null),
  /**
   * Key of the request behind which another one went on in another way and took the place of this one as the
   * conversation's end; null where none did. As soon as that one has gone on, a request that goes on from here is a branch.
   */
  partedAt: keyText.catch(null),
  /** Whether no request ended here: it is the beginning of a longer one, whose end is `next`. */
  inner: z.boolean().catch(false),
})
