import { LRUCache } from 'lru-cache'
import type { Growth } from '../../conversation/structure.ts'
import type { Message } from '../../conversation/message.ts'
import type { Envelope, KnownHistory } from '../../json/body-spans.ts'

/** A body that was read, and what was found in it. */
export type ReadBody = Omit<Growth, 'shared'> & {
  readonly bytes: Buffer
  /** Where the bracket of its messages stands. */
  readonly arrayStart: number
}

/** What a body has in common with an earlier one of its scope. */
export type SharedBeginning = {
  readonly body: ReadBody
  readonly growth: Growth
  /** From the bracket of its messages up to the end of the last one that they share. */
  readonly span: KnownHistory
  /** The shared messages, where they stand in the new body. */
  readonly messages: readonly Message[]
}

export type LastBodies = ReturnType<typeof createLastBodies>

/**
 * The latest bodies by scope, so that of one that goes on from an earlier one only the end is read. Held in memory
 * only, within a bound, and not for long.
 */
export function createLastBodies(options: {
  /** What all of them may take together, in bytes; 0: none is held. */
  readonly bytesMax: number
  /** Smaller ones are read as soon as they would be found. */
  readonly bodyBytesMin?: number
  /** How long one is held that no request goes on from, in milliseconds. */
  readonly idleMs?: number
}) {
  const { bytesMax, bodyBytesMin = LAST_BODY_BYTES_MIN, idleMs = LAST_BODY_IDLE_MS } = options
  const scopes = new Map<string, Set<ReadBody>>()
  /** The scope of each. */
  const held = new LRUCache<ReadBody, string>({
    maxSize: bytesMax,
    ttl: idleMs,
    ttlAutopurge: true,
    dispose: (scope, body) => {
      const bodies = scopes.get(scope)
      bodies?.delete(body)
      if (bodies?.size === 0) scopes.delete(scope)
    },
  })

  return {
    /** The longest beginning that a body with its messages at `arrayStart` shares with one of its scope; null where it shares none. */
    find: (scope: string, body: Buffer, arrayStart: number): SharedBeginning | null => {
      let best: ReadBody | null = null
      let bestShared = 0
      let compared = 0
      // Of those that share as much the latest.
      for (const candidate of [...(scopes.get(scope) ?? [])].toReversed()) {
        const mayShareMore =
          candidate.messages.length > bestShared &&
          isSame(candidate, body, arrayStart, bestShared, bestShared + 1)
        if (!mayShareMore) continue
        const shared = sharedCount(candidate, body, arrayStart)
        if (shared > bestShared) [best, bestShared] = [candidate, shared]
        compared += 1
        if (compared === COMPARED_MAX) break
      }
      return best === null ? null : beginningOf(best, bestShared, arrayStart)
    },

    /** Takes a body, in place of the one that it goes on from. */
    remember: (scope: string, body: ReadBody, beginning: SharedBeginning | null): void => {
      const heldBytes = body.bytes.buffer.byteLength + body.messages.length * MESSAGE_BYTES
      if (heldBytes > bytesMax) return
      if (beginning !== null && isGoneOnFrom(beginning)) held.delete(beginning.body)
      held.set(body, scope, { size: heldBytes })
      scopes.set(scope, (scopes.get(scope) ?? new Set()).add(body))
    },

    /** Whether a body of this size is worth a place. */
    takes: (bodyBytes: number) => bodyBytes >= bodyBytesMin && bodyBytes <= bytesMax,
    clear: (): void => held.clear(),
    /** What is held, in bytes. */
    heldBytes: () => held.calculatedSize,
  }
}

// --- internal ---

/** A smaller body is read as fast as one before it would be found, in bytes. */
const LAST_BODY_BYTES_MIN = 64 * 1024

/** How long a body is held for the next request of its conversation, in milliseconds. */
const LAST_BODY_IDLE_MS = 600_000

/** What is kept of a message beside its bytes: facts, keys, counts and places, about. */
const MESSAGE_BYTES = 500

/** Bodies that are compared with a new one to their ends. */
const COMPARED_MAX = 4

/** Agents change the last message: they move a mark from it to the next. With it change all that stand in one envelope. */
function isGoneOnFrom({ body: { messages }, growth }: SharedBeginning): boolean {
  const newest = messages.at(-1)
  const { envelope } = newest ?? {}
  const before = messages.findLastIndex((message) =>
    envelope === undefined ? message !== newest : message.envelope !== envelope,
  )
  return growth.shared > before
}

function beginningOf(body: ReadBody, shared: number, arrayStart: number): SharedBeginning {
  const { messages, structure, keys } = body
  const moved = arrayStart - body.arrayStart
  const same = messages.slice(0, shared)
  const elements = same.reduce((sum, { facts }) => sum + facts.elements, shared)
  return {
    body,
    growth: { messages, structure, keys, shared },
    span: { start: arrayStart, end: endOf(body, shared) + moved, messages: shared, elements },
    messages: moved === 0 ? same : movedMessages(same, moved),
  }
}

/** Messages so many bytes further on. Those that stood in one envelope do again. */
function movedMessages(messages: readonly Message[], by: number): readonly Message[] {
  const envelopes = new Map<Envelope, Envelope>()
  const movedEnvelope = (envelope: Envelope): Envelope => {
    const { start, end, open, close } = envelope
    const known = envelopes.get(envelope) ?? {
      ...envelope,
      start: start + by,
      end: end + by,
      open: open + by,
      close: close + by,
    }
    envelopes.set(envelope, known)
    return known
  }
  return messages.map(({ start, end, facts, envelope }) => {
    const moved = { start: start + by, end: end + by, facts }
    return envelope === undefined ? moved : { ...moved, envelope: movedEnvelope(envelope) }
  })
}

/**
 * With how many messages of `known` a body begins whose messages stand at `arrayStart`, byte for byte, separators
 * included. Only memory is compared: nothing of the body has to be read for it.
 */
function sharedCount(known: ReadBody, bytes: Buffer, arrayStart: number): number {
  const all = known.messages.length
  // Mostly it goes on from the end, or from the message before.
  for (const count of [all, all - 1])
    if (count > 0 && isSame(known, bytes, arrayStart, 0, count)) return count
  let shared = 0
  let different = Math.max(0, all - 1)
  while (shared < different - 1) {
    const middle = (shared + different) >>> 1
    if (isSame(known, bytes, arrayStart, shared, middle)) shared = middle
    else different = middle
  }
  return shared
}

/** Whether a body has the messages of `known` from one of them to another, byte for byte, where they would stand in it. */
function isSame(known: ReadBody, bytes: Buffer, arrayStart: number, from: number, to: number): boolean {
  const moved = arrayStart - known.arrayStart
  const [start, end] = [endOf(known, from), endOf(known, to)]
  if (end + moved > bytes.length) return false
  return known.bytes.compare(bytes, start + moved, end + moved, start, end) === 0
}

/** Where the first `count` messages end, with what the last one stands in; 0: behind the bracket's place. */
function endOf({ messages, arrayStart }: ReadBody, count: number): number {
  const last = messages[count - 1]
  return (last?.envelope ?? last)?.end ?? arrayStart
}
