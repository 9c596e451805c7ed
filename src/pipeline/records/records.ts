import {
  type Compaction,
  compactionUpTo,
  readCompaction,
  writeCompaction,
} from '../../compaction/compaction.ts'
import { anyHasBoundThoughts, isTalk, type Rounds } from '../../compaction/history/history.ts'
import { lruCache } from '../../caches.ts'
import { pauseIfDue } from '../../scheduling/drive.ts'
import { conversationIdChars } from '../../conversation/prefix-keys.ts'
import type { Store, StoreEntry } from '../../storage/store.ts'
import { digest } from '../read/read-chat.ts'
import type { Chat, Remembered } from '../request.ts'
import type { RecordedConversation, RecordPlace } from '../../summaries/summary-record.ts'
import {
  type FoundRequest,
  followed,
  identityOf,
  readName,
  readSeen,
  type SeenRequest,
  writeName,
  writeSeen,
} from './identify-conversation.ts'
import type { StoreGuard } from '../../storage/store-guard.ts'
import { countBelow } from '../../conversation/structure.ts'

/**
 * Records of compactions and seen requests, by scope, profile, model and meaning key. A seen request names its
 * conversation, so that the id is inherited, and the compaction that it stood in, so that one look-up finds it. The name
 * is also kept without the model: it goes with the conversation, while a compaction that one model's window asked for is
 * nothing to a model with a larger one. Of a request that goes on from no whole one its last beginnings are recorded,
 * too: the next may share no more with it than one of those. All of them are kept for `store.ttl_days`.
 */
export type Records = ReturnType<typeof createRecords>

/** Such a conversation as it was read. */
type RecordedChat = RecordedConversation & { readonly chat: Chat }

/** If the store fails, requests go on as if nothing were on record. */
export function createRecords(store: Store, guarded: StoreGuard) {
  /** The same record is the same compaction: what was found out about it is found again by that. */
  const compactions = lruCache<Compaction | typeof DAMAGED>(COMPACTIONS_MAX)

  /** `until`: only what of it was done before this message; null for all of it. Null if it does not fit the conversation. */
  function readOnce(value: string, chat: Chat, until: number | null = null): Compaction | null {
    const { systemCount } = chat.structure
    const name = `${systemCount} ${value}`
    const compaction = compactions.get(name) ?? readCompaction(value, systemCount) ?? DAMAGED
    compactions.set(name, compaction)
    if (compaction === DAMAGED) return null
    const fits = fitting(until === null ? compaction : compactionUpTo(compaction, until), chat)
    return fits === null ? null : ownElsewhere(fits, chat)
  }

  /** The newest record that can be read, of those at these points. */
  async function newest<Kept>(
    prefix: string,
    chat: Chat,
    points: readonly number[],
    read: (value: string) => Kept | null,
  ): Promise<{ readonly point: number; readonly kept: Kept } | null> {
    for (let start = 0; start < points.length; start = lookupEnd(start)) {
      // A store that answers at once keeps others waiting otherwise; the first look-up waits for nobody.
      if (start > 0) await pauseIfDue()
      const some = points.slice(start, lookupEnd(start))
      const found = await store.getFirst(keysAt(prefix, chat, some))
      const kept = found === null ? null : read(found.value)
      if (found !== null && kept !== null) return { point: some[found.index] ?? 0, kept }
    }
    return null
  }

  async function find(chat: Chat, place: RecordPlace): Promise<Remembered> {
    const remembered = await guarded<Remembered | null>(null, async () => {
      const points = findingPoints(chat)
      if (points.length > POINTS_TOGETHER) return findInTurn(chat, place, points)
      const prefixes = prefixesOf(place)
      // Of a conversation that is new there is none of these.
      const first = await store.getFirst([
        ...keysAt(prefixes.seen, chat, points),
        ...keysAt(prefixes.name, chat, points),
        ...keysAt(prefixes.compaction, chat, points),
      ])
      if (first === null) return null
      const point = points[first.index]
      const seen = point === undefined ? null : readSeen(first.value)
      const isSeen = point !== undefined && seen !== null
      return isSeen ? goingOnFrom({ point, seen }, chat, place, points) : findInTurn(chat, place, points)
    })
    return remembered ?? firstSeen(chat, place)
  }

  /** One kind of record after the other. */
  async function findInTurn(chat: Chat, place: RecordPlace, points: readonly number[]): Promise<Remembered> {
    const prefixes = prefixesOf(place)
    const seen = await newest(prefixes.seen, chat, points, readSeen)
    if (seen !== null) return goingOnFrom({ point: seen.point, seen: seen.kept }, chat, place, points)
    const named = await newest(prefixes.name, chat, points, readName)
    const compaction = await newest(prefixes.compaction, chat, points, (value) => readOnce(value, chat))
    const isKnown = named !== null
    return { ...firstSeen(chat, place), ...named?.kept, isKnown, compaction: compaction?.kept ?? null }
  }

  async function goingOnFrom(
    found: FoundRequest,
    chat: Chat,
    place: RecordPlace,
    points: readonly number[],
  ): Promise<Remembered> {
    const { seen, point } = found
    const prefixes = prefixesOf(place)
    const identity = await identityOf(found, chat, async (key) => {
      const standing = await store.getFirst([prefixes.seen + key])
      return standing === null ? null : readSeen(standing.value)
    })
    const conversation = identity.conversation ?? conversationId(chat, place)
    // From that request on a compaction may have been made by one that was not completed.
    const sinceCount = points.indexOf(point) + 1
    const keys = keysAt(prefixes.compaction, chat, points.slice(0, sinceCount))
    if (seen.compaction !== null) keys.push(prefixes.compaction + seen.compaction)
    const standing = await store.getFirst(keys)
    // One that the seen request stood in was made for its end; of a beginning that is another's.
    const isOthers = seen.inner && standing !== null && standing.index >= sinceCount
    let compaction = standing === null ? null : readOnce(standing.value, chat, isOthers ? point : null)
    // If what it stood in is gone, it is a conversation that nobody has seen: what stands before, or all of it derived.
    const isLost = seen.compaction !== null && standing === null
    if ((isOthers && compaction === null) || isLost) {
      const earlier = points.slice(sinceCount)
      const before = await newest(prefixes.compaction, chat, earlier, (value) => readOnce(value, chat))
      compaction = before?.kept ?? null
    }
    const seenUntil = isLost ? null : point
    const sharedUntil = seen.inner && !isLost ? point : null
    return { ...identity, conversation, isKnown: true, compaction, found, seenUntil, sharedUntil }
  }

  /** Records that this request was seen, in the compaction that `remembered` names. */
  function see(chat: Chat, place: RecordPlace, remembered: Remembered): void {
    void guarded(undefined, () => {
      const { compaction, conversation, parent, found, changed, sharedUntil } = remembered
      const { keys } = chat
      const prefixes = prefixesOf(place)
      const end = keys[chat.messages.length] ?? ''
      const isSame = found?.point === chat.messages.length
      const seen: SeenRequest = {
        conversation,
        parent,
        compaction: compaction === null ? null : (keys[compaction.point] ?? ''),
        next: isSame ? found.seen.next : null,
        partedAt: isSame ? found.seen.partedAt : null,
        inner: false,
      }
      const entries: StoreEntry[] = [
        { key: prefixes.seen + end, value: writeSeen(seen), group: conversation },
        { key: prefixes.name + end, value: writeName(seen), group: conversation },
      ]
      for (const each of [...(found === null || isSame ? [] : followed(found, chat)), ...changed])
        entries.push({
          key: prefixes.seen + each.key,
          value: writeSeen(each.seen),
          group: each.seen.conversation,
        })
      // A request that ends at one of these points knows more of it than one that only passes.
      for (const point of innerPoints(chat, found)) {
        const value = writeSeen({ ...seen, next: end, partedAt: null, inner: true })
        entries.push({ key: prefixes.seen + (keys[point] ?? ''), value, group: conversation, yields: true })
      }
      if (compaction !== null && compaction.point === sharedUntil)
        entries.push({ ...compactionEntry(chat, place, compaction), group: conversation, yields: true })
      return store.put(entries)
    })
  }

  /**
   * Records a compaction in the place of one at the same point: a view that was refused is not followed again. Nobody waits
   * for it: it is found from now on, by this process.
   */
  function replace(of: RecordedChat, compaction: Compaction): void {
    const { chat, place, remembered } = of
    void guarded(undefined, () =>
      store.put([
        { ...compactionEntry(chat, place, compaction), group: remembered.conversation },
        ...thoughtsOf(chat, place),
      ]),
    )
  }

  return {
    /**
     * Lets go of compactions that were read of late, which hold content where they have summaries: they are read again, and
     * that of a conversation that was deleted is not kept here.
     */
    forgetRead: () => compactions.clear(),
    find,
    see,
    /** Records a compaction; returns the one that stands, which is another's where that came first. */
    keep: ({ chat, place, remembered: { conversation } }: RecordedChat, compaction: Compaction) =>
      guarded(compaction, async () => {
        const { key, value } = compactionEntry(chat, place, compaction)
        const thoughts = store.put(thoughtsOf(chat, place))
        // Both at once: of two that fail neither may be left without anybody who hears of it.
        const [standing] = await Promise.all([store.putIfAbsent(key, value, conversation), thoughts])
        return readOnce(standing, chat) ?? compaction
      }),
    replace,
    /** Records that this request was sent in another form than its compaction's: what is thought in reply holds in that alone. */
    sendElsewhere: (of: RecordedChat, compaction: Compaction) =>
      replace(of, withElsewhere(compaction, of.chat)),
    /** Whether bound thoughts may have been taken out of a conversation of this scope. */
    holdsThoughts: (scope: string) =>
      guarded(false, async () => (await store.getFirst([thoughtsKey(scope)])) !== null),
  }
}

// --- internal ---

/** Compactions that are remembered as they were read: of the conversations of late. */
const COMPACTIONS_MAX = 256

const DAMAGED = 'damaged'

/** Up to so many points, whatever may be on record of them is asked for in one look-up. */
const POINTS_TOGETHER = 4

/** A conversation that is seen for the first time. */
function firstSeen(chat: Chat, place: RecordPlace): Remembered {
  return {
    conversation: conversationId(chat, place),
    isKnown: false,
    parent: null,
    compaction: null,
    found: null,
    seenUntil: null,
    sharedUntil: null,
    changed: [],
  }
}

/** The conversation's meaning key at first sight, within its scope: ids of different scopes never meet. */
function conversationId(chat: Chat, place: RecordPlace): string {
  return digest(`${place.scope} ${chat.keys[chat.messages.length] ?? ''}`).slice(0, conversationIdChars)
}

/** The beginning of the keys of each kind of record. */
function prefixesOf({ scope, profile, model }: RecordPlace): Record<'seen' | 'compaction' | 'name', string> {
  return {
    seen: `seen:${scope}:${profile}:${model}:`,
    compaction: `compaction:${scope}:${profile}:${model}:`,
    name: `name:${scope}:${profile}:`,
  }
}

/** Of a scope in which no thoughts are bound nothing has to be known. */
function thoughtsOf({ messages }: Chat, { scope }: RecordPlace): readonly StoreEntry[] {
  return anyHasBoundThoughts(messages) ? [{ key: thoughtsKey(scope), value: '1' }] : []
}

function thoughtsKey(scope: string): string {
  return `thoughts:${scope}`
}

function keysAt(prefix: string, { keys }: Chat, points: readonly number[]): string[] {
  return points.map((point) => prefix + (keys[point] ?? ''))
}

function compactionEntry(chat: Chat, place: RecordPlace, compaction: Compaction) {
  return {
    key: prefixesOf(place).compaction + (chat.keys[compaction.point] ?? ''),
    value: writeCompaction(compaction, chat.structure.systemCount),
  }
}

/** The compaction with a note that the request which ends with this conversation was sent in another form. */
function withElsewhere(compaction: Compaction, { messages, keys }: Chat): Compaction {
  const point = messages.length
  const others = (compaction.elsewhere ?? []).filter((each) => each.point !== point)
  return { ...compaction, elsewhere: [...others.slice(1 - NOTES_MAX), { point, key: keys[point] ?? '' }] }
}

/** The compaction without notes of a conversation that begins like this one and went on in another way. */
function ownElsewhere(compaction: Compaction, { keys }: Chat): Compaction {
  const { elsewhere, ...others } = compaction
  if (elsewhere === undefined) return compaction
  const own = elsewhere.filter(({ point, key }) => keys[point] === key)
  if (own.length === elsewhere.length) return compaction
  return own.length === 0 ? others : { ...others, elsewhere: own }
}

/** Whoever sends more requests so behind one compaction has the oldest refused, once. */
const NOTES_MAX = 64

/**
 * A record whose indexes do not fit the conversation is damaged: following none costs a cache miss, no more.
 *
 * @internal exported for tests
 */
export function fitting(compaction: Compaction | null, chat: Rounds): Compaction | null {
  if (compaction === null) return null
  const { systemCount } = chat.structure
  const isInside = (index: number): boolean => index >= systemCount && index <= chat.messages.length
  const isUser = (index: number): boolean =>
    index === -1 || (index < compaction.point && chat.messages[index]?.facts.role === 'user')
  const frontier = compaction.fold?.frontier ?? systemCount
  // Any other message would stand there without its call or its results.
  const mayStandAlone = (index: number): boolean =>
    chat.messages[index]?.facts.role === 'user' || isTalk(chat, index)
  const isSound =
    isInside(compaction.point) &&
    isInside(frontier) &&
    frontier <= compaction.point &&
    chat.structure.isFrontier(frontier) &&
    isUser(compaction.task) &&
    isUser(compaction.latestUser) &&
    (compaction.fold?.kept ?? []).every(
      (index, position, kept) =>
        index >= systemCount &&
        index < frontier &&
        index > (kept[position - 1] ?? -1) &&
        mayStandAlone(index),
    ) &&
    [...compaction.clips.map(({ index }) => index), ...compaction.thoughts].every(
      (index) => isInside(index) && index < compaction.point,
    ) &&
    (compaction.fold?.summaries ?? []).every(
      ({ start, end }) => start >= systemCount && start < end && end <= frontier,
    )
  return isSound ? compaction : null
}

/**
 * Where a conversation is looked for, from its end down. All conversations are the same up to the end of the leading
 * system block, which is no part of their keys.
 */
function findingPoints({ structure, messages }: Chat): readonly number[] {
  const { recordPoints, systemCount } = structure
  const points: number[] = []
  for (let at = recordPoints.length - 1; at >= 0; at -= 1) {
    const point = recordPoints[at] ?? 0
    if (point > systemCount || point === messages.length) points.push(point)
  }
  return points
}

/** How many points are looked up at once, the first `start` having been: a conversation was mostly seen at one of its latest. */
function lookupEnd(start: number): number {
  return start + (start === 0 ? POINTS_AT_FIRST : POINTS_PER_LOOKUP)
}

/**
 * Where a request is recorded beside its end: at its last request points since the one that it goes on from. One that
 * simply goes on has none there; a reply in several messages is one.
 */
function innerPoints({ structure, messages }: Chat, found: FoundRequest | null): readonly number[] {
  const { requestPoints, systemCount } = structure
  const since = Math.max(systemCount, found?.point ?? 0)
  const first = countBelow(requestPoints, since + 1)
  const points: number[] = []
  // From the end: of tens of thousands only the last ones count.
  for (let at = requestPoints.length - 2; at >= first && points.length < INNER_POINTS_MAX; at -= 1) {
    const point = requestPoints[at] ?? 0
    if (messages[point - 1]?.facts.role !== 'assistant') points.unshift(point)
  }
  return points
}

const POINTS_AT_FIRST = 16
const POINTS_PER_LOOKUP = 256

/**
 * Beginnings of a request that are recorded beside its end. Agents that show only the newest five results whole edit the
 * sixth at each request.
 */
const INNER_POINTS_MAX = 8
