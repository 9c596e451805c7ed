import type { Compaction } from '../../compaction/compaction.ts'
import type { Message } from '../../conversation/message.ts'
import { lruCache } from '../../lru-cache.ts'
import type { Store } from '../../stores/store.ts'
import type { StoreGuard } from '../../stores/store-guard.ts'
import type { RecordPlace } from '../request.ts'

/**
 * How few bytes a conversation may have that stands in a compaction, of each place under which records are found. A request of
 * fewer goes on from none: so of small ones nothing has to be looked up. It is noted beside each compaction before that is used.
 */
export type CompactedPlaces = {
  /** In bytes of a body; infinite if nothing of the place was ever compacted, null if it is not known here: it is being looked up then. */
  readonly fewestBytes: (place: RecordPlace) => number | null
  /** A compaction of these messages is being recorded. */
  readonly note: (
    place: RecordPlace,
    messages: readonly Pick<Message, 'facts'>[],
    compaction: Pick<Compaction, 'point'>,
  ) => void
}

export function createCompactedPlaces(
  store: Pick<Store, 'getFirst' | 'put' | 'putIfAbsent' | 'readRows'>,
  guarded: StoreGuard,
  nowMs: () => number = () => performance.now(),
): CompactedPlaces {
  const places = lruCache<Known>(PLACES_MAX)
  /** Whether all that stands in the store was noted; null until that is known. */
  let isNoted: boolean | null = null

  /** A store in which others wrote before any was noted says nothing of theirs. */
  async function learnIsNoted(): Promise<boolean> {
    const rows = await store.readRows('usage', { from: 'oldest', beyond: null, limit: 1 })
    const standing = await store.putIfAbsent(NOTED_KEY, rows.length === 0 ? SINCE_ITS_BEGINNING : LATER)
    return standing === SINCE_ITS_BEGINNING
  }

  async function read(key: string): Promise<number> {
    const found = await store.getFirst([key])
    const bytes = found === null ? Infinity : Number(found.value)
    return Number.isNaN(bytes) ? 0 : bytes
  }

  async function lookUp(key: string): Promise<void> {
    await guarded(undefined, async () => {
      isNoted ??= await learnIsNoted()
      const bytes = isNoted ? await read(key) : 0
      // What was noted here meanwhile counts, too.
      places.set(key, { bytes: Math.min(bytes, places.get(key)?.bytes ?? Infinity), readAtMs: nowMs() })
    })
  }

  /** Beside the compaction, whose own writing is waited for: together they are one batch. */
  async function write(key: string, bytes: number): Promise<void> {
    await guarded(undefined, async () => {
      const fewest = Math.min(bytes, await read(key))
      await store.put([{ key, value: String(fewest) }])
    })
  }

  return {
    fewestBytes: (place) => {
      const key = keyOf(place)
      const known = places.get(key)
      // Other processes may have compacted something since.
      if (known === undefined || nowMs() - known.readAtMs >= REREAD_MS) void lookUp(key)
      return known?.bytes ?? null
    },
    note: (place, messages, { point }) => {
      const key = keyOf(place)
      let bytes = 0
      for (const { facts } of messages.slice(0, point)) bytes += facts.bytes
      const fewest = Math.floor(bytes / SPELLINGS_FACTOR)
      const known = places.get(key)
      places.set(key, {
        bytes: Math.min(fewest, known?.bytes ?? Infinity),
        readAtMs: known?.readAtMs ?? -Infinity,
      })
      void write(key, fewest)
    },
  }
}

// --- internal ---

type Known = { readonly bytes: number; readonly readAtMs: number }

const PLACES_MAX = 10_000

/** How long it may take until what another process has compacted is known here, in milliseconds. */
const REREAD_MS = 10_000

/**
 * The same messages may be written again in fewer bytes: `\u00e4` takes six where `ä` takes two, and fields that mean nothing
 * to their keys may be gone.
 */
const SPELLINGS_FACTOR = 8

const NOTED_KEY = 'compacted-places'
const SINCE_ITS_BEGINNING = 'all'
const LATER = 'some'

function keyOf({ scope, profile, model }: RecordPlace): string {
  return `compacted:${scope}:${profile}:${model}`
}
