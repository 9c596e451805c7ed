import { LRUCache } from 'lru-cache'
import {
  compactionUpTo,
  readCompaction,
  writeCompaction,
  type Compaction,
} from '../../compaction/compaction.ts'
import { breathe } from '../../scheduling/drive.ts'
import { conversationIdChars } from '../../conversation/conversation-id.ts'
import type { Store, StoreEntry } from '../../stores/store.ts'
import { digest } from '../read/body-source.ts'
import type { Chat, FoundRequest, RecordPlace, Remembered, SeenRequest } from '../request.ts'
import { forksAt, identityOf, leadsThrough } from './branches.ts'
import { fitting } from './fitting-compaction.ts'
import { findingPoints, innerPoints, lookupEnd } from './record-points.ts'
import { readName, readSeen, writeName, writeSeen } from './seen-request.ts'
import type { StoreGuard } from '../../stores/store-guard.ts'

/**
 * Records of compactions and seen requests, by scope, profile, model and meaning key. A seen request names its
 * conversation, so that the id is inherited, and the compaction that it stood in, so that one look-up finds it. The name
 * is also kept without the model: it goes with the conversation, while a compaction that one model's window asked for is
 * nothing to a model with a larger one. Of a request that goes on from no whole one its last beginnings are recorded,
 * too: the next may share no more with it than one of those.
 */
export type Records = {
  readonly find: (chat: Chat, place: RecordPlace) => Promise<Remembered>
  /** Records a compaction; returns the one that stands, which is another's where that came first. */
  readonly keep: (of: RecordedConversation, compaction: Compaction) => Promise<Compaction>
  /** Records a compaction in the place of one at the same point: a view that was refused is not followed again. */
  readonly replace: (of: RecordedConversation, compaction: Compaction) => Promise<void>
  /** Records that this request was seen, in the compaction that `remembered` names. */
  readonly see: (chat: Chat, place: RecordPlace, remembered: Remembered) => Promise<void>
}

/** A conversation with its id and with what its records are found by. */
export type RecordedConversation = {
  readonly chat: Chat
  readonly place: RecordPlace
  readonly conversation: string
}

/** Records, and the compactions that were read of late: with summaries they hold content. */
export type ReadRecords = Records & {
  /** Lets go of what was read: it is read again, and that of a conversation that was deleted is not kept here. */
  readonly forgetRead: () => void
}

/** Whatever fails in the store is as if nothing were on record. */
export function createRecords(store: Store, guarded: StoreGuard): ReadRecords {
  /** The same record is the same compaction: what was found out about it is found again by that. */
  const compactions = new LRUCache<string, Compaction | typeof DAMAGED>({ max: COMPACTIONS_MAX })
  /** The request that was the first to go on from a seen one as it stood, by that one's key and its `next`. */
  const ways = new LRUCache<string, string>({ max: WAYS_MAX })

  function readOnce(value: string, systemCount: number): Compaction | null {
    const name = `${systemCount} ${value}`
    const compaction = compactions.get(name) ?? readCompaction(value, systemCount) ?? DAMAGED
    compactions.set(name, compaction)
    return compaction === DAMAGED ? null : compaction
  }

  async function find(chat: Chat, place: RecordPlace): Promise<Remembered> {
    const points = findingPoints(chat)
    let value: string | null = null
    let at = 0
    if (points.length <= POINTS_TOGETHER) {
      // A conversation that is new has nothing of all that.
      const keys = keysOf('seen', place, chat, points)
      const found = await store.getFirst([
        ...keys,
        ...namesOf(place, chat, points),
        ...keysOf('compaction', place, chat, points),
      ])
      if (found === null) return firstSeen(chat, place)
      if (found.index < keys.length) [value, at] = [found.value, found.index]
    }
    for (let start = 0; start < points.length; start = lookupEnd(start)) {
      // What is found at once keeps nobody waiting, and waits for nobody.
      if (start > 0) await breathe()
      if (value === null) {
        const keys = keysOf('seen', place, chat, points.slice(start, lookupEnd(start)))
        const found = await store.getFirst(keys)
        if (found === null) continue
        value = found.value
        at = start + found.index
      }
      const seen = readSeen(value)
      value = null
      if (seen !== null)
        return goingOnFrom({ point: points[at] ?? chat.messages.length, seen }, chat, place, points)
    }
    const unseen = await namedBefore(chat, place, points)
    return { ...unseen, compaction: await newestCompaction(chat, place, points) }
  }

  async function goingOnFrom(
    found: FoundRequest,
    chat: Chat,
    place: RecordPlace,
    points: readonly number[],
  ): Promise<Remembered> {
    const identity = await identityOf(found, chat, {
      newId: conversationId(chat, place),
      seenAt: async (key) => {
        const standing = await store.getFirst([prefixOf('seen', place) + key])
        return standing === null ? null : readSeen(standing.value)
      },
    })
    const compaction = await compactionSince(found, chat, place, points)
    return { ...identity, compaction, found, sharedUntil: found.seen.inner ? found.point : null }
  }

  /** The newest compaction that was made for one of these prefixes. */
  async function newestCompaction(
    chat: Chat,
    place: RecordPlace,
    points: readonly number[],
  ): Promise<Compaction | null> {
    for (let start = 0; start < points.length; start = lookupEnd(start)) {
      if (start > 0) await breathe()
      const keys = keysOf('compaction', place, chat, points.slice(start, lookupEnd(start)))
      const found = await store.getFirst(keys)
      const compaction = found === null ? null : readOnce(found.value, chat.structure.systemCount)
      if (fitting(compaction, chat) !== null) return compaction
    }
    return null
  }

  /** The compaction that a conversation stands in which goes on from a seen request; `points` from the newest down. */
  async function compactionSince(
    { point, seen }: FoundRequest,
    chat: Chat,
    place: RecordPlace,
    points: readonly number[],
  ): Promise<Compaction | null> {
    // From that request on a compaction may have been made by one that was not completed.
    const since = points.filter((later) => later >= point)
    const keys = keysOf('compaction', place, chat, since)
    if (seen.compaction !== null) keys.push(prefixOf('compaction', place) + seen.compaction)
    const found = await store.getFirst(keys)
    const compaction = found === null ? null : readOnce(found.value, chat.structure.systemCount)
    if (!seen.inner || found === null || found.index < since.length) return fitting(compaction, chat)
    // It was made for the end of another request.
    const within = compaction === null ? null : fitting(compactionUpTo(compaction, point), chat)
    return within ?? newestCompaction(chat, place, points.slice(since.length))
  }

  async function namedBefore(chat: Chat, place: RecordPlace, points: readonly number[]): Promise<Remembered> {
    for (let start = 0; start < points.length; start = lookupEnd(start)) {
      if (start > 0) await breathe()
      const found = await store.getFirst(namesOf(place, chat, points.slice(start, lookupEnd(start))))
      const name = found === null ? null : readName(found.value)
      if (name !== null) return { ...firstSeen(chat, place), ...name }
    }
    return firstSeen(chat, place)
  }

  async function see(chat: Chat, place: RecordPlace, remembered: Remembered): Promise<void> {
    const { compaction, conversation, parent, found, amended, sharedUntil } = remembered
    const prefix = prefixOf('seen', place)
    const entryOf = (key: string, seen: SeenRequest): StoreEntry => ({
      key: prefix + key,
      value: writeSeen(seen),
      group: seen.conversation,
    })
    const { keys } = chat
    const end = keys[chat.messages.length] ?? ''
    const isSame = found?.point === chat.messages.length
    const left = found === null || isSame ? null : found
    const leftKey = keys[left?.point ?? 0] ?? ''
    // Another request may have gone on from there since this one was looked up.
    const isSecond = left !== null && !isFirstOnWay(left, prefix, chat)
    const isBranch = conversation === conversationId(chat, place)
    const seen: SeenRequest = {
      conversation,
      parent,
      compaction: compaction === null ? null : (keys[compaction.point] ?? ''),
      next: isSame ? found.seen.next : null,
      partedAt: isSame ? found.seen.partedAt : isSecond && !isBranch ? leftKey : null,
      inner: false,
    }
    const entries = [
      entryOf(end, seen),
      { key: namePrefixOf(place) + end, value: writeName(seen), group: conversation },
    ]
    if (left !== null && !isSecond) {
      const isFollowed = left.seen.next === null || forksAt(left, chat)
      const changed = isFollowed ? [{ key: leftKey, seen: { ...left.seen, next: end } }, ...amended] : amended
      for (const each of changed) {
        // As it stands now nobody has gone on from it yet.
        ways.delete(wayFrom(prefix + each.key, each.seen))
        entries.push(entryOf(each.key, each.seen))
      }
    }
    const beginnings: StoreEntry[] = []
    for (const point of innerPoints(chat, found))
      beginnings.push(entryOf(keys[point] ?? '', { ...seen, next: end, partedAt: null, inner: true }))
    if (compaction !== null && compaction.point === sharedUntil)
      beginnings.push({ ...compactionEntry(chat, place, compaction), group: conversation })
    const writing: Promise<unknown>[] = [store.put(entries)]
    // A request that ends there knows more of it than one that only passes.
    for (const { key, value, group } of beginnings) writing.push(store.putIfAbsent(key, value, group))
    await Promise.all(writing)
  }

  /** Whether no other way has been taken from a seen request since this one was looked up, as far as this process knows. */
  function isFirstOnWay({ point, seen }: FoundRequest, prefix: string, chat: Chat): boolean {
    const end = chat.keys[chat.messages.length] ?? ''
    const way = wayFrom(prefix + (chat.keys[point] ?? ''), seen)
    const first = ways.get(way) ?? end
    ways.set(way, first)
    return leadsThrough(first, point, chat)
  }

  return {
    forgetRead: () => {
      compactions.clear()
      ways.clear()
    },
    find: (chat, place) => guarded(firstSeen(chat, place), () => find(chat, place)),
    see: (chat, place, remembered) => guarded(undefined, () => see(chat, place, remembered)),
    keep: ({ chat, place, conversation }, compaction) =>
      guarded(compaction, async () => {
        const { key, value } = compactionEntry(chat, place, compaction)
        const standing = await store.putIfAbsent(key, value, conversation)
        return fitting(readOnce(standing, chat.structure.systemCount), chat) ?? compaction
      }),
    replace: ({ chat, place, conversation }, compaction) =>
      guarded(undefined, async () => {
        const { key, value } = compactionEntry(chat, place, compaction)
        await store.put([{ key, value, group: conversation }])
      }),
  }
}

// --- internal ---

/** Compactions that are remembered as they were read: of the conversations of late. */
const COMPACTIONS_MAX = 256

const DAMAGED = 'damaged'

/** Ways that were taken of late: whoever takes another one at the same time does so within a request's duration. */
const WAYS_MAX = 1_024

/** Up to so many points, whatever may be on record of them is asked for in one look-up. */
const POINTS_TOGETHER = 4

/** A conversation that is seen for the first time. */
function firstSeen(chat: Chat, place: RecordPlace): Remembered {
  return {
    conversation: conversationId(chat, place),
    parent: null,
    compaction: null,
    found: null,
    sharedUntil: null,
    amended: [],
  }
}

/** The conversation's meaning key at first sight, within its scope: ids of different scopes never meet. */
function conversationId(chat: Chat, place: RecordPlace): string {
  return digest(`${place.scope} ${chat.keys[chat.messages.length] ?? ''}`).slice(0, conversationIdChars)
}

type RecordKind = 'seen' | 'compaction'

function prefixOf(kind: RecordKind, { scope, profile, model }: RecordPlace): string {
  return `${kind}:${scope}:${profile}:${model}:`
}

function namePrefixOf({ scope, profile }: RecordPlace): string {
  return `name:${scope}:${profile}:`
}

function keysOf(kind: RecordKind, place: RecordPlace, chat: Chat, points: readonly number[]): string[] {
  return prefixed(prefixOf(kind, place), chat, points)
}

function namesOf(place: RecordPlace, chat: Chat, points: readonly number[]): string[] {
  return prefixed(namePrefixOf(place), chat, points)
}

function prefixed(prefix: string, { keys }: Chat, points: readonly number[]): string[] {
  const all: string[] = []
  for (const point of points) all.push(prefix + (keys[point] ?? ''))
  return all
}

function compactionEntry(
  chat: Chat,
  place: RecordPlace,
  compaction: Compaction,
): Pick<StoreEntry, 'key' | 'value'> {
  return {
    key: prefixOf('compaction', place) + (chat.keys[compaction.point] ?? ''),
    value: writeCompaction(compaction, chat.structure.systemCount),
  }
}

function wayFrom(recordKey: string, { next }: SeenRequest): string {
  return `${recordKey} ${next ?? ''}`
}
