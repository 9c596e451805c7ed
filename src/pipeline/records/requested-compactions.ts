import { randomUUID } from 'node:crypto'
import { lruCache } from '../../lru-cache.ts'
import type { Store } from '../../storage/store.ts'
import type { Eventual } from '../../scheduling/drive.ts'
import type { StoreGuard } from '../../storage/store-guard.ts'

/** Compactions that the operator asked for: each is for the next request of its conversation, whichever replica gets it. */
export type RequestedCompactions = {
  readonly ask: (conversation: string) => Eventual<void>
  /** Whether a compaction was asked for; the first request that takes it has it. */
  readonly take: (conversation: string) => Promise<boolean>
  /** Forgets what was asked of a conversation that is deleted. */
  readonly forget: (conversation: string) => void
}

export function createRequestedCompactions(
  store: Pick<Store, 'getFirst' | 'put' | 'putIfAbsent'>,
  guarded: StoreGuard,
): RequestedCompactions {
  /** What was asked of this process, by conversation: it holds even if nothing can be written. */
  const asked = lruCache<string>(REMEMBERED_MAX)
  const taken = lruCache<true>(REMEMBERED_MAX)

  return {
    forget: (conversation) => asked.delete(conversation),
    ask: (conversation) => {
      const id = randomUUID()
      asked.set(conversation, id)
      return guarded(undefined, () =>
        store.put([{ key: keyOf(conversation), value: id, group: conversation }]),
      )
    },
    take: async (conversation) => {
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
