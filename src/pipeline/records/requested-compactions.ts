import { randomUUID } from 'node:crypto'
import { lruCache } from '../../caches.ts'
import type { Store } from '../../storage/store.ts'
import type { StoreGuard } from '../../storage/store-guard.ts'

/** Compactions that the operator asked for: each is for the next request of its conversation, whichever replica gets it. */
export function createRequestedCompactions(
  store: Pick<Store, 'getFirst' | 'put' | 'putIfAbsent'>,
  guarded: StoreGuard,
) {
  /** What was asked of this process, by conversation: it holds even if nothing can be written. */
  const asked = lruCache<string>(REMEMBERED_MAX)
  const taken = lruCache<true>(REMEMBERED_MAX)

  return {
    /** Forgets what was asked of a conversation that is deleted. */
    forget: (conversation: string) => asked.delete(conversation),
    ask: (conversation: string) => {
      const id = randomUUID()
      asked.set(conversation, id)
      return guarded(undefined, () =>
        store.put([{ key: keyOf(conversation), value: id, group: conversation }]),
      )
    },
    /** Whether a compaction was asked for; the first request that takes it has it. */
    take: async (conversation: string) => {
      const standing = await guarded(null, () => store.getFirst([keyOf(conversation)]))
      // The newest first: what was asked of this process may have been done by another, and asked for again there.
      const ids = new Set([standing?.value, asked.get(conversation)])
      asked.delete(conversation)
      for (const id of ids) {
        if (id === undefined || taken.has(id)) continue
        taken.set(id, true)
        const taker = randomUUID()
        const place = `${keyOf(conversation)}:${id}`
        const first = await guarded(taker, () => store.putIfAbsent(place, taker, conversation))
        if (first === taker) return true
      }
      return false
    },
  }
}

// --- internal ---

/** Requests for a compaction that this process remembers: to be asked for one is rare. */
const REMEMBERED_MAX = 1_000

function keyOf(conversation: string): string {
  return `wish:${conversation}`
}
