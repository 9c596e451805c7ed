import { randomUUID } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { parseJsonText } from '../../conversation/json-value.ts'
import type { Store } from '../../stores/store.ts'
import type { StoreGuard } from '../../stores/store-guard.ts'

/** Compactions that the operator asked for: each is for the next request of its conversation, whichever replica gets it. */
export type CompactWishes = {
  readonly ask: (conversation: string) => Promise<void>
  /** Whether a compaction was asked for. It is for whoever takes it first. No promise where none is known of. */
  readonly take: (conversation: string) => Promise<boolean> | false
}

export function createCompactWishes(store: Store, guarded: StoreGuard): CompactWishes {
  const wished = new LRUCache<string, string>({ max: WISHES_MAX })
  let readUpTo: string | null = null
  let readAtMs = Number.NEGATIVE_INFINITY

  /** Of other replicas one hears by and by: a look for each request would cost more than it is worth. */
  async function readOthers(): Promise<void> {
    readAtMs = performance.now()
    const rows = await guarded([], () =>
      store.readRows('wishes', { from: 'oldest', beyond: readUpTo, limit: WISHES_MAX }),
    )
    for (const { id, text } of rows) {
      readUpTo = id
      const wish = wishSchema.safeParse(parseJsonText(text)).data
      if (wish !== undefined) wished.set(wish.conversation, wish.id)
    }
  }

  async function readAndTake(conversation: string): Promise<boolean> {
    await readOthers()
    return takeKnown(conversation)
  }

  async function takeKnown(conversation: string): Promise<boolean> {
    const id = wished.get(conversation)
    if (id === undefined) return false
    wished.delete(conversation)
    const taker = randomUUID()
    const standing = await guarded(taker, () => store.putIfAbsent(`wish:${id}`, taker, conversation))
    return standing === taker
  }

  return {
    ask: async (conversation) => {
      const wish = { id: randomUUID(), conversation }
      wished.set(conversation, wish.id)
      const rows = [{ text: JSON.stringify(wish), group: conversation }]
      await guarded(undefined, () => store.appendRows('wishes', rows))
    },
    take: (conversation) => {
      if (performance.now() - readAtMs >= READ_GAP_MS) return readAndTake(conversation)
      return wished.has(conversation) && takeKnown(conversation)
    },
  }
}

// --- internal ---

const wishSchema = z.object({ id: z.uuid(), conversation: z.string() })

/** Conversations of which a compaction may be asked for at a time. */
const WISHES_MAX = 1_000

/** How long it may take until what was asked of another replica is known here, in milliseconds. */
const READ_GAP_MS = 1_000
