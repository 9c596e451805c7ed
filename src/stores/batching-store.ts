import type { Store, StoreEntry } from './store.ts'

/**
 * The same store, in which what `putAll` gets within a few milliseconds is written at once: a transaction costs a file
 * many times what a value in it does. Until then it is found here all the same, and `putAll` has not resolved. Only a
 * process that is killed loses it, and with it no more than where a conversation stands that has just gone on.
 */
export function batchingStore(
  store: Store,
  { delayMs = DELAY_MS }: { readonly delayMs?: number } = {},
): Store {
  /** What is not written yet, and what is being written, by key. */
  let waiting = new Map<string, StoreEntry>()
  let writing = new Map<string, StoreEntry>()
  let batch: Promise<void> | null = null
  let flushNow: (() => void) | null = null

  function flushSoon(): Promise<void> {
    batch ??= new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, delayMs)
      flushNow = () => {
        clearTimeout(timer)
        resolve()
      }
    }).then(async () => {
      const entries = waiting
      waiting = new Map()
      writing = entries
      batch = null
      try {
        await store.putAll([...entries.values()])
      } finally {
        if (writing === entries) writing = new Map()
      }
    })
    return batch
  }

  function unwritten(key: string): StoreEntry | undefined {
    return waiting.get(key) ?? writing.get(key)
  }

  /** Writes what waits, so that what comes next comes behind it. */
  async function settle(): Promise<void> {
    if (batch === null) return
    const written = batch
    flushNow?.()
    await written
  }

  return {
    ...store,
    getFirst: async (keys) => {
      const at = keys.findIndex((key) => unwritten(key) !== undefined)
      if (at === -1) return store.getFirst(keys)
      const before = at === 0 ? null : await store.getFirst(keys.slice(0, at))
      if (before !== null) return before
      const value = unwritten(keys[at] ?? '')?.value
      // Written while the keys before it were looked for.
      return value === undefined ? store.getFirst(keys) : { index: at, value }
    },
    putIfAbsent: async (key, value, group) => {
      if (unwritten(key) !== undefined) await settle()
      return store.putIfAbsent(key, value, group)
    },
    put: async (key, value, group) => {
      if (unwritten(key) !== undefined) await settle()
      await store.put(key, value, group)
    },
    putAll: async (entries) => {
      if (entries.length === 0) return
      for (const entry of entries) {
        // The order in which values were written last is the order in which they go.
        waiting.delete(entry.key)
        waiting.set(entry.key, entry)
      }
      const written = flushSoon()
      if (waiting.size >= ENTRIES_MAX) flushNow?.()
      await written
    },
    delete: async (keys) => {
      await settle()
      await store.delete(keys)
    },
    deleteGroup: async (group) => {
      await settle()
      return store.deleteGroup(group)
    },
    purge: async () => {
      await settle()
      return store.purge()
    },
    close: async () => {
      // Whoever waits for the writing hears of its failure.
      await settle().catch(() => {})
      await store.close()
    },
  }
}

// --- internal ---

/** How long a value waits for others, in milliseconds: less than any client takes between an answer and its next request. */
const DELAY_MS = 5

/** What is written at once at most: a few milliseconds' work. */
const ENTRIES_MAX = 256
