import type { Chat, SeenRequest, Sight, RecordPlace, Remembered } from '../request.ts'
import { LRUCache } from 'lru-cache'
import {
  compactionUpTo,
  readCompaction,
  writeCompaction,
  type Compaction,
} from '../../compaction/compaction.ts'
import { conversationIdChars } from '../../stores/conversation-id.ts'
import type { Store, StoreEntry } from '../../stores/store.ts'
import { breathe } from '../../scheduling/drive.ts'
import { digest } from '../read/body-source.ts'
import { forksAt, identityOf, leadsThrough } from './branches.ts'
import { fitting } from './fitting-compaction.ts'
import { findingPoints, innerPoints, lookups } from './record-points.ts'
import { readName, readSight, writeName, writeSight } from './sights.ts'
import type { StoreGuard } from './store-guard.ts'

/**
 * Records of compactions and sights, by scope, profile, model and meaning key. A sight stands for a request that
 * was seen: it names the conversation, so that its id is inherited, and the compaction it stood in, so that one
 * look-up finds it. The name is also kept without the model: it goes with the conversation, while a compaction
 * that one model's window asked for is nothing to a model with a larger one. Of a request that goes on from no
 * whole one its last beginnings are recorded, too: the next may share no more with it than one of those.
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
  const compactions: ReadCompactions = new LRUCache({ max: COMPACTIONS_MAX })
  const ways: TakenWays = new LRUCache({ max: WAYS_MAX })
  const records = recordsIn(store, compactions, ways)
  return {
    forgetRead: () => {
      compactions.clear()
      ways.clear()
    },
    find: (chat, place) => guarded(firstSeen(chat, place), () => records.find(chat, place)),
    keep: (of, compaction) => guarded(compaction, () => records.keep(of, compaction)),
    replace: (of, compaction) => guarded(undefined, () => records.replace(of, compaction)),
    see: (chat, place, remembered) => guarded(undefined, () => records.see(chat, place, remembered)),
  }
}

// --- internal ---

/** The same record is the same compaction: what was found out about it is found again by that. */
type ReadCompactions = LRUCache<string, Compaction | typeof DAMAGED>

/** The request that was the first to go on from a sight as it stood, by the sight's key and its `next`. */
type TakenWays = LRUCache<string, string>

function recordsIn(store: Store, compactions: ReadCompactions, ways: TakenWays): Records {
  function readOnce(value: string, systemCount: number): Compaction | null {
    const name = `${systemCount} ${value}`
    const compaction = compactions.get(name) ?? readCompaction(value, systemCount) ?? DAMAGED
    compactions.set(name, compaction)
    return compaction === DAMAGED ? null : compaction
  }

  /** The newest compaction that was made for one of these prefixes. */
  async function newestCompaction(
    chat: Chat,
    place: RecordPlace,
    points: readonly number[],
  ): Promise<Compaction | null> {
    for (const { start, end } of lookups(points.length)) {
      if (start > 0) await breathe()
      const found = await store.getFirst(keysOf('compaction', chat, place, points.slice(start, end)))
      const compaction = found === null ? null : readOnce(found.value, chat.structure.systemCount)
      if (fitting(compaction, chat) !== null) return compaction
    }
    return null
  }

  /** The compaction that a conversation stands in which goes on from a sight; `points` from the newest down. */
  async function compactionSince(
    { point, sight }: SeenRequest,
    chat: Chat,
    place: RecordPlace,
    points: readonly number[],
  ): Promise<Compaction | null> {
    // From that sight on a compaction may have been made by a request that was not completed.
    const since = points.filter((later) => later >= point)
    const compactionKey = sight.compaction === null ? [] : [recordKey('compaction', place, sight.compaction)]
    const found = await store.getFirst([...keysOf('compaction', chat, place, since), ...compactionKey])
    const compaction = found === null ? null : readOnce(found.value, chat.structure.systemCount)
    if (!sight.inner || found === null || found.index < since.length) return fitting(compaction, chat)
    // It was made for the end of another request.
    const within = compaction === null ? null : fitting(compactionUpTo(compaction, point), chat)
    return within ?? newestCompaction(chat, place, points.slice(since.length))
  }

  async function namedBefore(chat: Chat, place: RecordPlace, points: readonly number[]): Promise<Remembered> {
    for (const { start, end } of lookups(points.length)) {
      if (start > 0) await breathe()
      const found = await store.getFirst(namesOf(chat, place, points.slice(start, end)))
      const name = found === null ? null : readName(found.value)
      if (name !== null) return { ...firstSeen(chat, place), ...name }
    }
    return firstSeen(chat, place)
  }

  return {
    find: async (chat, place) => {
      const points = findingPoints(chat)
      let foundSight: Awaited<ReturnType<Store['getFirst']>> = null
      if (points.length <= POINTS_TOGETHER) {
        // A conversation that is new has nothing of all that.
        const sights = keysOf('sight', chat, place, points)
        const found = await store.getFirst([
          ...sights,
          ...namesOf(chat, place, points),
          ...keysOf('compaction', chat, place, points),
        ])
        if (found === null) return firstSeen(chat, place)
        if (found.index < sights.length) foundSight = found
      }
      for (const { start, end } of lookups(points.length)) {
        // What is found at once keeps nobody waiting, and waits for nobody.
        if (start > 0) await breathe()
        const found =
          foundSight ?? (await store.getFirst(keysOf('sight', chat, place, points.slice(start, end))))
        const sight = found === null ? null : readSight(found.value)
        if (sight === null) continue
        const point = points[start + (found?.index ?? 0)] ?? chat.messages.length
        const seen = { point, sight }
        const identity = await identityOf(seen, chat, {
          newId: conversationId(chat, place),
          sightAt: async (key) => {
            const standing = await store.getFirst([recordKey('sight', place, key)])
            return standing === null ? null : readSight(standing.value)
          },
        })
        const compaction = await compactionSince(seen, chat, place, points)
        return { ...identity, compaction, seen, sharedUntil: sight.inner ? point : null }
      }
      const unseen = await namedBefore(chat, place, points)
      return { ...unseen, compaction: await newestCompaction(chat, place, points) }
    },

    keep: async ({ chat, place, conversation }, compaction) => {
      const { systemCount } = chat.structure
      const key = recordKey('compaction', place, chat.keys[compaction.point] ?? '')
      const standing = await store.putIfAbsent(key, writeCompaction(compaction, systemCount), conversation)
      return fitting(readOnce(standing, systemCount), chat) ?? compaction
    },

    replace: async ({ chat, place, conversation }, compaction) => {
      const key = recordKey('compaction', place, chat.keys[compaction.point] ?? '')
      await store.put(key, writeCompaction(compaction, chat.structure.systemCount), conversation)
    },

    see: async (chat, place, remembered) => {
      const { compaction, conversation, parent, seen, amended, sharedUntil } = remembered
      const entryOf = (key: string, sight: Sight): StoreEntry => ({
        key: recordKey('sight', place, key),
        value: writeSight(sight),
        group: sight.conversation,
      })
      const amend = (key: string, sight: Sight): void => {
        // As it stands now nobody has gone on from it yet.
        ways.delete(wayFrom(place, key, sight))
        entries.push(entryOf(key, sight))
      }
      const keyAt = (point: number): string => chat.keys[point] ?? ''
      const end = chat.messages.length
      const isSame = seen?.point === end
      const left = seen === null || isSame ? null : seen
      // Another request may have gone on from there since this one was looked up.
      const isSecond = left !== null && !isFirstOnWay(left, chat, place)
      const isBranch = conversation === conversationId(chat, place)
      const sight: Sight = {
        conversation,
        parent,
        compaction: compaction === null ? null : keyAt(compaction.point),
        next: isSame ? seen.sight.next : null,
        partedAt: isSame ? seen.sight.partedAt : isSecond && !isBranch ? keyAt(left.point) : null,
        inner: false,
      }
      const entries = [
        entryOf(keyAt(end), sight),
        { key: nameKey(place, keyAt(end)), value: writeName(sight), group: conversation },
      ]
      if (left !== null && !isSecond) {
        const isFollowed = left.sight.next === null || forksAt(left, chat)
        if (isFollowed) amend(keyAt(left.point), { ...left.sight, next: keyAt(end) })
        for (const { key, sight: said } of amended) amend(key, said)
      }
      const inner = { ...sight, next: keyAt(end), partedAt: null, inner: true }
      const beginnings = innerPoints(chat, seen).map((point) => entryOf(keyAt(point), inner))
      if (compaction !== null && compaction.point === sharedUntil) {
        const key = recordKey('compaction', place, keyAt(compaction.point))
        const value = writeCompaction(compaction, chat.structure.systemCount)
        beginnings.push({ key, value, group: conversation })
      }
      await Promise.all([
        store.putAll(entries),
        // A request that ends there knows more of it than one that only passes.
        ...beginnings.map(({ key, value, group }) => store.putIfAbsent(key, value, group)),
      ])
    },
  }

  /** Whether no other way has been taken from a sight since this request was looked up, as far as this process knows. */
  function isFirstOnWay(left: SeenRequest, chat: Chat, place: RecordPlace): boolean {
    const end = chat.keys[chat.messages.length] ?? ''
    const way = wayFrom(place, chat.keys[left.point] ?? '', left.sight)
    const first = ways.get(way) ?? end
    ways.set(way, first)
    return leadsThrough(first, left.point, chat)
  }
}

/** Compactions that are remembered as they were read: of the conversations of late. */
const COMPACTIONS_MAX = 256

const DAMAGED = 'damaged'

/** Ways that were taken of late: whoever takes another one at the same time does so within a request's duration. */
const WAYS_MAX = 1_024

/** A conversation that is seen for the first time. */
function firstSeen(chat: Chat, place: RecordPlace): Remembered {
  return {
    conversation: conversationId(chat, place),
    parent: null,
    compaction: null,
    seen: null,
    sharedUntil: null,
    amended: [],
  }
}

/** Up to so many points, whatever may be on record of them is asked for in one look-up. */
const POINTS_TOGETHER = 4

/** The conversation's meaning key at first sight, within its scope: ids of different scopes never meet. */
function conversationId(chat: Chat, place: RecordPlace): string {
  return digest(`${place.scope} ${chat.keys[chat.messages.length] ?? ''}`).slice(0, conversationIdChars)
}

function recordKey(kind: string, place: RecordPlace, key: string): string {
  return `${kind}:${place.scope}:${place.profile}:${place.model}:${key}`
}

function keysOf(kind: string, chat: Chat, place: RecordPlace, points: readonly number[]): string[] {
  return points.map((point) => recordKey(kind, place, chat.keys[point] ?? ''))
}

function namesOf(chat: Chat, place: RecordPlace, points: readonly number[]): string[] {
  return points.map((point) => nameKey(place, chat.keys[point] ?? ''))
}

function wayFrom(place: RecordPlace, key: string, { next }: Sight): string {
  return `${recordKey('sight', place, key)} ${next ?? ''}`
}

function nameKey(place: RecordPlace, key: string): string {
  return `name:${place.scope}:${place.profile}:${key}`
}
