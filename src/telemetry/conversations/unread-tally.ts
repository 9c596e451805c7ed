import { LRUCache } from 'lru-cache'
import type { UsageRow } from '../journal/rows.ts'
import { inOrder } from './conversation-list.ts'

/** Requests of one kind that are part of no conversation: they were not read, refused, or came by an API that is not compacted. */
export type UnreadCard = Pick<UsageRow, 'client' | 'dialect' | 'action' | 'reason' | 'status'> & {
  /** The path of an API that is not compacted; null for all others. */
  readonly path: string | null
  readonly requests: number
  /** ISO 8601, in UTC. */
  readonly last_seen: string
}

export type UnreadTally = ReturnType<typeof createUnreadTally>

/** Requests that no conversation shows, counted by who sent them and why they were not read. */
export function createUnreadTally() {
  const kinds = new LRUCache<string, UnreadCard>({ max: KINDS_MAX })

  function add({ last_seen: lastSeen, ...kind }: Omit<UnreadCard, 'requests'>): void {
    const { client, dialect, path, action, reason, status } = kind
    const key = JSON.stringify([client, dialect, path, action, reason, status])
    const known = kinds.get(key)
    const last_seen = known !== undefined && known.last_seen > lastSeen ? known.last_seen : lastSeen
    kinds.set(key, { ...kind, requests: (known?.requests ?? 0) + 1, last_seen })
  }

  return {
    add,
    /** The same of a request with a row of its own. */
    addRow: ({ client, dialect, action, reason, status, time }: UsageRow): void =>
      add({ client, dialect, path: null, action, reason, status, last_seen: time }),
    /** The latest first. */
    cards: (): readonly UnreadCard[] =>
      [...kinds.values()].toSorted((one, other) => inOrder(other.last_seen, one.last_seen)),
  }
}

// --- internal ---

/** Clients name themselves: those that were seen longest ago are forgotten. */
const KINDS_MAX = 100
