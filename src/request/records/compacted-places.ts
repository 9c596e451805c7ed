import type { MessageFacts } from '../../conversation/message.ts'
import { parseJsonText } from '../../conversation/json-value.ts'
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
  /** A compaction is being recorded whose key stands for these messages. */
  readonly note: (place: RecordPlace, messages: readonly NotedMessage[]) => void
}

/** What of a message is noted. */
type NotedMessage = { readonly facts: Pick<MessageFacts, 'bytes' | 'opensReply'> }

export type CompactedPlacesOptions = {
  readonly store: Pick<Store, 'getFirst' | 'put' | 'readRows'>
  readonly guarded: StoreGuard
  /** For how long the store keeps what was written last, in milliseconds; 0: for ever. */
  readonly lifetimeMs: number
  readonly nowMs: () => number
}

export function createCompactedPlaces({
  store,
  guarded,
  lifetimeMs,
  nowMs,
}: CompactedPlacesOptions): CompactedPlaces {
  const places = lruCache<Known>(PLACES_MAX)
  const lookingUp = new Set<string>()
  /** Since when compactions are noted in this store, and when that was last written there; null until it is known. */
  let noted: { readonly sinceMs: number; readonly writtenAtMs: number } | null = null
  // Before anything is written: a store in which nobody wrote before holds nothing that was not noted.
  const opening = guarded(undefined, async () => {
    await learnSince()
  })

  async function learnSince(): Promise<number> {
    if (noted !== null && Math.abs(nowMs() - noted.writtenAtMs) < RENEWED_MS) return noted.sinceMs
    const standing = Number((await store.getFirst([NOTED_KEY]))?.value ?? Number.NaN)
    const sinceMs = noted?.sinceMs ?? (Number.isNaN(standing) ? await beginningMs() : standing)
    // Written again before its time is up.
    await store.put([{ key: NOTED_KEY, value: String(sinceMs) }])
    noted = { sinceMs, writtenAtMs: nowMs() }
    return sinceMs
  }

  /** Of a store that has no word of it: its beginning if nobody has written there, else now. */
  async function beginningMs(): Promise<number> {
    const rows = await store.readRows('usage', { from: 'oldest', beyond: null, limit: 1 })
    return rows.length === 0 ? 0 : nowMs()
  }

  /** Whether what was not noted is gone by now. */
  async function isAllNoted(): Promise<boolean> {
    const sinceMs = await learnSince()
    return sinceMs === 0 || (lifetimeMs > 0 && nowMs() - sinceMs >= lifetimeMs)
  }

  async function read(key: string): Promise<number> {
    const found = await store.getFirst([key])
    const bytes = found === null ? Infinity : parseJsonText(found.value)
    return typeof bytes === 'number' ? bytes : 0
  }

  async function lookUp(key: string): Promise<void> {
    if (lookingUp.has(key)) return
    lookingUp.add(key)
    await opening
    await guarded(undefined, async () => {
      const bytes = (await isAllNoted()) ? await read(key) : 0
      // What was noted here meanwhile counts, too.
      places.set(key, { bytes: Math.min(bytes, places.get(key)?.bytes ?? Infinity), readAtMs: nowMs() })
    })
    lookingUp.delete(key)
  }

  /** Beside the compaction, whose own writing is waited for: together they are one batch. */
  async function write(key: string, bytes: number): Promise<void> {
    await guarded(undefined, async () => {
      const standing = await read(key)
      // Several are noted at a time: the last that is written counts all of them.
      const fewest = Math.min(bytes, standing, places.get(key)?.bytes ?? Infinity)
      await store.put([{ key, value: String(fewest) }])
    })
  }

  return {
    fewestBytes: (place) => {
      const key = keyOf(place)
      const known = places.get(key)
      const readAtMs = known?.readAtMs ?? null
      // Other processes may have compacted something since.
      if (readAtMs === null || Math.abs(nowMs() - readAtMs) >= REREAD_MS) void lookUp(key)
      return known === undefined || readAtMs === null ? null : known.bytes
    },
    note: (place, messages) => {
      const key = keyOf(place)
      let bytes = 0
      // What a reply holds beside its words may be gone when it is sent again.
      for (const { facts } of messages) if (!facts.opensReply) bytes += facts.bytes
      const fewest = Math.floor(bytes / SPELLINGS_FACTOR)
      const known = places.get(key)
      places.set(key, {
        bytes: Math.min(fewest, known?.bytes ?? Infinity),
        readAtMs: known?.readAtMs ?? null,
      })
      void write(key, fewest)
    },
  }
}

// --- internal ---

/** `readAtMs` null: only what was noted here is known. */
type Known = { readonly bytes: number; readonly readAtMs: number | null }

const PLACES_MAX = 10_000

/** How long it may take until what another process has compacted is known here, in milliseconds. */
const REREAD_MS = 10_000

/** How often it is written again since when compactions are noted, in milliseconds. */
const RENEWED_MS = 3_600_000

/**
 * The same messages may be written again in fewer bytes: `\u00e4` takes six where `ä` takes two, and fields that mean nothing
 * to their keys may be gone.
 */
const SPELLINGS_FACTOR = 8

const NOTED_KEY = 'compactions-noted-since'

function keyOf({ scope, profile, model }: RecordPlace): string {
  return `compacted:${scope}:${profile}:${model}`
}
