import { LRUCache } from 'lru-cache'
import { readStride, writeStride, type Stride } from '../../compaction/stride.ts'
import { conversationIdChars } from '../../stores/conversation-id.ts'
import type { Store, StoreEntry } from '../../stores/store.ts'
import { breathe } from '../drive.ts'
import { digest } from '../request/body-source.ts'
import type { Chat } from '../request/read-chat.ts'
import {
  isBranchOf,
  nextKey,
  readName,
  readSight,
  writeName,
  type SeenRequest,
  type Sight,
} from './sights.ts'
import type { StoreGuard } from './store-guard.ts'

/** What is on record of a conversation. */
export type Remembered = {
  /** The conversation's id: its meaning key at first sight. */
  readonly conversation: string
  /** The conversation that it branched off; null where it did not. */
  readonly parent: string | null
  /** The newest stride that is a prefix of it; null where there is none. */
  readonly stride: Stride | null
  /** The newest request of it that is on record, which may be this very one; null where there is none. */
  readonly seen: SeenRequest | null
  readonly sharedUntil: null
}

/**
 * Records of strides and sights, by scope, profile, model and meaning key. A sight stands for a request that
 * was seen: it names the conversation, so that its id is inherited, and the stride it stood in, so that one
 * look-up finds it. The name is also kept without the model: it goes with the conversation, while a stride
 * that one model's window asked for is nothing to a model with a larger one.
 */
export type Records = {
  readonly find: (chat: Chat, place: RecordPlace) => Promise<Remembered>
  /** Records a stride; returns the one that stands, which is another's where that came first. */
  readonly keep: (of: RecordedConversation, stride: Stride) => Promise<Stride>
  /** Records a stride in the place of one at the same point: a view that was refused is not followed again. */
  readonly replace: (of: RecordedConversation, stride: Stride) => Promise<void>
  /** Records that this request was seen, in the stride that `remembered` names. */
  readonly see: (chat: Chat, place: RecordPlace, remembered: Remembered) => Promise<void>
}

/** A conversation with its id and with what its records are found by. */
export type RecordedConversation = {
  readonly chat: Chat
  readonly place: RecordPlace
  readonly conversation: string
}

export type RecordPlace = {
  readonly scope: string
  readonly profile: string
  /** A digest of the model's name. */
  readonly model: string
}

/** Records, and the strides that were read of late: with summaries they hold content. */
export type ReadRecords = Records & {
  /** Lets go of what was read: it is read again, and that of a conversation that was deleted is not kept here. */
  readonly forgetRead: () => void
}

/** Whatever fails in the store is as if nothing were on record. */
export function createRecords(store: Store, guarded: StoreGuard): ReadRecords {
  const strides: ReadStrides = new LRUCache({ max: STRIDES_MAX })
  const records = recordsIn(store, strides)
  return {
    forgetRead: () => strides.clear(),
    find: (chat, place) => {
      const unknown = { ...firstSeen(chat, place), stride: null }
      return guarded(unknown, () => records.find(chat, place))
    },
    keep: (of, stride) => guarded(stride, () => records.keep(of, stride)),
    replace: (of, stride) => guarded(undefined, () => records.replace(of, stride)),
    see: (chat, place, remembered) => guarded(undefined, () => records.see(chat, place, remembered)),
  }
}

// --- internal ---

/** The same record is the same stride: what was found out about it is found again by that. */
type ReadStrides = LRUCache<string, Stride | typeof DAMAGED>

function recordsIn(store: Store, strides: ReadStrides): Records {
  function readOnce(value: string, systemCount: number): Stride | null {
    const name = `${systemCount} ${value}`
    const stride = strides.get(name) ?? readStride(value, systemCount) ?? DAMAGED
    strides.set(name, stride)
    return stride === DAMAGED ? null : stride
  }

  return {
    find: async (chat, place) => {
      const points = chat.structure.recordPoints.toReversed()
      const keysOf = (kind: string, some: readonly number[]): string[] =>
        some.map((point) => recordKey(kind, place, chat.keys[point] ?? ''))
      const namesOf = (some: readonly number[]): string[] =>
        some.map((point) => nameKey(place, chat.keys[point] ?? ''))
      const nameOf = async (): Promise<Omit<Remembered, 'stride'>> => {
        for (const { start, end } of lookups(points.length)) {
          if (start > 0) await breathe()
          const found = await store.getFirst(namesOf(points.slice(start, end)))
          const name = found === null ? null : readName(found.value)
          if (name !== null) return { ...name, seen: null, sharedUntil: null }
        }
        return firstSeen(chat, place)
      }
      const strideOf = (found: { value: string } | null): Stride | null =>
        found === null ? null : valid(readOnce(found.value, chat.structure.systemCount), chat)

      let foundSight: Awaited<ReturnType<Store['getFirst']>> = null
      if (points.length <= POINTS_TOGETHER) {
        // A conversation that is new has nothing of all that.
        const sights = keysOf('sight', points)
        const found = await store.getFirst([...sights, ...namesOf(points), ...keysOf('stride', points)])
        if (found === null) return { ...firstSeen(chat, place), stride: null }
        if (found.index < sights.length) foundSight = found
      }
      for (const { start, end } of lookups(points.length)) {
        // What is found at once keeps nobody waiting, and waits for nobody.
        if (start > 0) await breathe()
        const seen = foundSight ?? (await store.getFirst(keysOf('sight', points.slice(start, end))))
        const sight = seen === null ? null : readSight(seen.value)
        if (sight === null) continue
        // From that sight on a stride may have been made by a request that was not completed.
        const since = points.slice(0, start + (seen?.index ?? 0) + 1)
        const strideKey = sight.stride === null ? [] : [recordKey('stride', place, sight.stride)]
        const found = await store.getFirst([...keysOf('stride', since), ...strideKey])
        const seenRequest = { point: since.at(-1) ?? chat.messages.length, sight }
        return { ...inherited(seenRequest, chat, place), stride: strideOf(found) }
      }
      const unseen = await nameOf()
      for (const { start, end } of lookups(points.length)) {
        if (start > 0) await breathe()
        const stride = strideOf(await store.getFirst(keysOf('stride', points.slice(start, end))))
        if (stride !== null) return { ...unseen, stride }
      }
      return { ...unseen, stride: null }
    },

    keep: async ({ chat, place, conversation }, stride) => {
      const { systemCount } = chat.structure
      const key = recordKey('stride', place, chat.keys[stride.point] ?? '')
      const standing = await store.putIfAbsent(key, writeStride(stride, systemCount), conversation)
      return valid(readOnce(standing, systemCount), chat) ?? stride
    },

    replace: async ({ chat, place, conversation }, stride) => {
      const key = recordKey('stride', place, chat.keys[stride.point] ?? '')
      await store.put(key, writeStride(stride, chat.structure.systemCount), conversation)
    },

    see: async (chat, place, remembered) => {
      const { stride, conversation, parent, seen } = remembered
      const entryOf = (point: number, sight: Sight): StoreEntry => ({
        key: recordKey('sight', place, chat.keys[point] ?? ''),
        value: JSON.stringify(sight),
        group: sight.conversation,
      })
      const end = chat.messages.length
      const isSame = seen?.point === end
      const sight: Sight = {
        conversation,
        parent,
        stride: stride === null ? null : (chat.keys[stride.point] ?? null),
        next: isSame ? seen.sight.next : null,
      }
      const isFollowed = seen !== null && !isSame && seen.sight.next === null
      await store.putAll([
        entryOf(end, sight),
        ...(isFollowed ? [entryOf(seen.point, { ...seen.sight, next: nextKey(seen, chat) })] : []),
        { key: nameKey(place, chat.keys[end] ?? ''), value: writeName(sight), group: conversation },
      ])
    },
  }
}

/** Strides that are remembered as they were read: of the conversations of late. */
const STRIDES_MAX = 256

const DAMAGED = 'damaged'

/** A conversation that is seen for the first time. */
function firstSeen(chat: Chat, place: RecordPlace): Omit<Remembered, 'stride'> {
  return { conversation: conversationId(chat, place), parent: null, seen: null, sharedUntil: null }
}

/** The id of the request before it, unless the conversation has gone on from there in another way. */
function inherited(seen: SeenRequest, chat: Chat, place: RecordPlace): Omit<Remembered, 'stride'> {
  const { conversation, parent } = seen.sight
  return isBranchOf(seen, chat)
    ? { ...firstSeen(chat, place), parent: conversation, seen }
    : { conversation, parent, seen, sharedUntil: null }
}

/** Up to so many points, whatever may be on record of them is asked for in one look-up. */
const POINTS_TOGETHER = 4

/** Request points asked for first: a conversation that goes on was seen at one of its latest. */
const POINTS_AT_FIRST = 16

/** How many keys are asked for at once after that. */
const POINTS_PER_LOOKUP = 256

/** The ranges in which records are looked for, the likeliest first. */
function* lookups(count: number): Generator<{ start: number; end: number }, void, void> {
  for (let start = 0; start < count;) {
    const end = start + (start === 0 ? POINTS_AT_FIRST : POINTS_PER_LOOKUP)
    yield { start, end }
    start = end
  }
}

/** The conversation's meaning key at first sight, within its scope: ids of different scopes never meet. */
function conversationId(chat: Chat, place: RecordPlace): string {
  return digest(`${place.scope} ${chat.keys[chat.messages.length] ?? ''}`).slice(0, conversationIdChars)
}

function recordKey(kind: string, place: RecordPlace, key: string): string {
  return `${kind}:${place.scope}:${place.profile}:${place.model}:${key}`
}

function nameKey(place: RecordPlace, key: string): string {
  return `name:${place.scope}:${place.profile}:${key}`
}

/** A record whose indexes do not fit the conversation is damaged: following none costs a cache miss, no more. */
function valid(stride: Stride | null, chat: Chat): Stride | null {
  if (stride === null) return null
  const { systemCount } = chat.structure
  const isInside = (index: number): boolean => index >= systemCount && index <= chat.messages.length
  const isUser = (index: number): boolean =>
    index === -1 || (index < stride.point && chat.messages[index]?.facts.role === 'user')
  const frontier = stride.fold?.frontier ?? systemCount
  // Any other message would stand there without its call or its results.
  const mayStandAlone = (index: number): boolean => {
    const facts = chat.messages[index]?.facts
    return facts?.role === 'user' || (facts?.role === 'assistant' && facts.callIds.length === 0)
  }
  const isSound =
    isInside(stride.point) &&
    isInside(frontier) &&
    frontier <= stride.point &&
    chat.structure.isFrontier(frontier) &&
    isUser(stride.task) &&
    isUser(stride.latestUser) &&
    (stride.fold?.kept ?? []).every(
      (index, position, kept) =>
        index >= systemCount &&
        index < frontier &&
        index > (kept[position - 1] ?? -1) &&
        mayStandAlone(index),
    ) &&
    stride.clips.every(({ index }) => isInside(index) && index < stride.point) &&
    (stride.fold?.summaries ?? []).every(
      ({ start, end }) => start >= systemCount && start < end && end <= frontier,
    )
  return isSound ? stride : null
}
