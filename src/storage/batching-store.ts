import { onceThere } from '../scheduling/drive.ts'
import { pauseForHeld } from './store-guard.ts'
import type { Store, StoreEntry } from './store.ts'

/**
 * The same store, but the values that `put` gets within a few milliseconds are written in one transaction, which costs a
 * file many times what a value in it does. Until they are written they are found here, and `put` has not resolved. Only
 * a process that is killed loses them: the conversations that have just gone on lose their latest step.
 */
export function batchingStore(
  store: Store,
  { delayMs = DELAY_MS }: { readonly delayMs?: number } = {},
): Store {
  /** Values of the next transaction, and all values that are not written yet, by key. */
  let waiting = new Map<string, StoreEntry>()
  const unwritten = new Map<string, StoreEntry>()
  let batch: PromiseWithResolvers<void> | null = null
  let timer: NodeJS.Timeout | undefined
  /** Until when nothing is written, since writing failed and held everything up, and with what it failed. */
  let restUntilMs = 0
  let failure: unknown = null

  let writing: Promise<void> = Promise.resolve()

  /** Writes the waiting values, behind those that are being written. */
  function flush(): Promise<void> {
    writing = writing.then(writeWaiting)
    return writing
  }

  async function writeWaiting(): Promise<void> {
    if (batch === null) return
    const own = batch
    const entries = waiting
    clearTimeout(timer)
    batch = null
    waiting = new Map()
    let heldMs = 0
    try {
      const beganMs = performance.now()
      const put = store.put([...entries.values()])
      heldMs = performance.now() - beganMs
      await put
      own.resolve()
    } catch (error) {
      restUntilMs = performance.now() + pauseForHeld(heldMs)
      failure = error
      own.reject(error)
    } finally {
      for (const [key, entry] of entries) if (unwritten.get(key) === entry) unwritten.delete(key)
    }
    // Each `put` of these values rejects as well.
    await own.promise.catch(() => {})
  }

  return {
    ...store,
    getFirst: (keys) => {
      const index = unwritten.size === 0 ? -1 : keys.findIndex((key) => unwritten.has(key))
      const found = unwritten.get(keys[index] ?? '')
      if (found === undefined) return store.getFirst(keys)
      // One that yields is none where another stands.
      const asked = index + (found.yields === true ? 1 : 0)
      const standing = asked === 0 ? null : store.getFirst(keys.slice(0, asked))
      return onceThere(standing, (before) => before ?? { index, value: found.value })
    },
    putIfAbsent: async (key, value, group) => {
      // What was put before is written before.
      await flush()
      return store.putIfAbsent(key, value, group)
    },
    put: async (entries) => {
      if (entries.length === 0) return
      if (performance.now() < restUntilMs) throw failure
      for (const entry of entries) {
        if (entry.yields === true && unwritten.has(entry.key)) continue
        // The order in which values were written last is the order in which they go.
        waiting.delete(entry.key)
        waiting.set(entry.key, entry)
        unwritten.set(entry.key, entry)
      }
      if (batch === null) {
        batch = Promise.withResolvers()
        timer = setTimeout(() => void flush(), delayMs)
      }
      const written = batch.promise
      if (waiting.size >= ENTRIES_MAX) await flush()
      await written
    },
    deleteGroup: async (group) => {
      await flush()
      return store.deleteGroup(group)
    },
    purge: async () => {
      await flush()
      return store.purge()
    },
    close: async () => {
      await flush()
      await store.close()
    },
  }
}

// --- internal ---

/** How long a value waits for others, in milliseconds: less than any client takes between an answer and its next request. */
const DELAY_MS = 25

/** Values in one transaction: a few milliseconds' work. */
const ENTRIES_MAX = 256
