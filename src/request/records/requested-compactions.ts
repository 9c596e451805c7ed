import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { parseJsonText } from '../../conversation/json-value.ts'
import { lruCache } from '../../lru-cache.ts'
import type { Store } from '../../stores/store.ts'
import type { StoreGuard } from '../../stores/store-guard.ts'

/** Compactions that the operator asked for: each is for the next request of its conversation, whichever replica gets it. */
export type RequestedCompactions = {
  readonly ask: (conversation: string) => Promise<void>
  /** Whether one was asked for of late, as far as this process knows: it may be for any small request. */
  readonly mayBeAsked: () => boolean
  /** Whether a compaction was asked for; the first request that takes it has it. No promise if none is known of. */
  readonly take: (conversation: string) => Promise<boolean> | false
}

export function createRequestedCompactions(store: Store, guarded: StoreGuard): RequestedCompactions {
  const asked = lruCache<string>(REQUESTED_MAX)
  let readUpTo: string | null = null
  let readAtMs = Number.NEGATIVE_INFINITY
  let askedAtMs = Number.NEGATIVE_INFINITY

  function note(conversation: string, id: string): void {
    asked.set(conversation, id)
    askedAtMs = performance.now()
  }

  function isReadingDue(): boolean {
    return performance.now() - readAtMs >= READ_GAP_MS
  }

  /** Requests made at other replicas are looked for once a second: a look-up for each request would cost too much. */
  async function readOthers(): Promise<void> {
    readAtMs = performance.now()
    const rows = await guarded([], () =>
      store.readRows('wishes', { from: 'oldest', beyond: readUpTo, limit: REQUESTED_MAX }),
    )
    for (const { id, text } of rows) {
      readUpTo = id
      const request = requestSchema.safeParse(parseJsonText(text)).data
      if (request !== undefined) note(request.conversation, request.id)
    }
  }

  async function takeIn(conversation: string, isReadFirst: boolean): Promise<boolean> {
    if (isReadFirst) await readOthers()
    const id = asked.get(conversation)
    if (id === undefined) return false
    asked.delete(conversation)
    const taker = randomUUID()
    const standing = await guarded(taker, () => store.putIfAbsent(`wish:${id}`, taker, conversation))
    return standing === taker
  }

  return {
    ask: async (conversation) => {
      const request = { id: randomUUID(), conversation }
      note(conversation, request.id)
      const rows = [{ text: JSON.stringify(request), group: conversation }]
      await guarded(undefined, () => store.appendRows('wishes', rows))
    },
    mayBeAsked: () => {
      if (isReadingDue()) void readOthers()
      return performance.now() - askedAtMs < WAITED_FOR_MS
    },
    take: (conversation) => {
      const isReadFirst = isReadingDue()
      return (isReadFirst || asked.has(conversation)) && takeIn(conversation, isReadFirst)
    },
  }
}

// --- internal ---

const requestSchema = z.object({ id: z.uuid(), conversation: z.string() })

/** Conversations of which a compaction may be asked for at a time. */
const REQUESTED_MAX = 1_000

/** For how long small requests are looked into for it, in milliseconds. */
const WAITED_FOR_MS = 600_000

/** How long it may take until what was asked of another replica is known here, in milliseconds. */
const READ_GAP_MS = 1_000
