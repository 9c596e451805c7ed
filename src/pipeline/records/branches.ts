import type { Chat, FoundRequest, SeenRequest, KeyedRequest } from '../request.ts'

/** Which conversation a request belongs to. */
export type Identity = {
  /** Null for a branch that begins with this request. */
  readonly conversation: string | null
  /** The conversation that it branched off; null where it did not. */
  readonly parent: string | null
  /** Seen requests that say something else from this request on. */
  readonly amended: readonly KeyedRequest[]
}

/** The seen request under a meaning key; null if there is none. */
export type SeenAt = (key: string) => Promise<SeenRequest | null>

/**
 * The conversation of a request that goes on from one on record. A branch is a branch only when both ways go on: an end
 * that was edited, retried or written anew is the same conversation, and whoever is the first to go on keeps its id.
 */
export async function identityOf(found: FoundRequest, chat: Chat, seenAt: SeenAt): Promise<Identity> {
  const { seen, point } = found
  const own = { conversation: seen.conversation, parent: seen.parent, amended: [] }
  const key = chat.keys[point] ?? ''
  if (point === chat.messages.length) return own
  // Another one went on from there before, in another way.
  const isFork = seen.next !== null && !leadsThrough(seen.next, point, chat)
  const partedAt = seen.next === null ? seen.partedAt : null
  const parting = isFork ? { key, seen } : partedAt === null ? null : await partingAt(partedAt, seenAt)
  const rivalKey = parting?.seen.next ?? null
  if (parting === null || rivalKey === null || rivalKey === key) return own
  const rival = await newestEnd(rivalKey, isFork ? null : seen.conversation, seenAt)
  if (rival === 'went-on') return { conversation: null, parent: seen.conversation, amended: [] }
  if (rival === null) return own
  const replaced = { key: rival.key, seen: { ...rival.seen, partedAt: parting.key } }
  // The newest way is followed, which may be a branch itself.
  if (isFork) return { conversation: rival.seen.conversation, parent: rival.seen.parent, amended: [replaced] }
  return { ...own, amended: [replaced, { key: parting.key, seen: { ...parting.seen, next: key } }] }
}

/** Whether the prefix with this key is one of the conversation's own, longer than its first `point` messages. */
export function leadsThrough(key: string, point: number, { structure, keys }: Chat): boolean {
  for (const following of structure.recordPoints)
    if (following > point && keys[following] === key) return true
  return false
}

// --- internal ---

/**
 * More replaced ends in a row than this, each behind the one before, are a way that went on. aider asks up to four times
 * before it puts its files behind what was said, and its next request has no more in common with the fourth of these
 * than with the first.
 */
const REPLACED_MAX = 4

/** Where another way took the place of the request that this one is the first to go on from. */
async function partingAt(key: string, seenAt: SeenAt): Promise<KeyedRequest | null> {
  const seen = await seenAt(key)
  return seen === null ? null : { key, seen }
}

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
    const parting = seen.partedAt === null ? null : await seenAt(seen.partedAt)
    const by = parting?.next ?? key
    if (by === key) return { key, seen }
    key = by
  }
  return 'went-on'
}
