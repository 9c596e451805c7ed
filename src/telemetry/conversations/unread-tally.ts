import { LRUCache } from 'lru-cache'
import type { UsageRow } from '../journal/rows.ts'

/** Requests of one kind that are part of no conversation: they were not read, refused, or came by an API that is not compacted. */
export type UnreadCard = Pick<UsageRow, 'client' | 'dialect' | 'action' | 'reason' | 'status'> & {
  /** The path of an API that is not compacted; null for all others. */
  readonly path: string | null
  readonly requests: number
  /** ISO 8601, in UTC. */
  readonly last_seen: string
}

/** Requests that no conversation shows, counted by who sent them and why they were not read. */
export type UnreadTally = {
  readonly add: (request: Omit<UnreadCard, 'requests'>) => void
  /** The latest first. */
  readonly cards: () => readonly UnreadCard[]
}

export function createUnreadTally(): UnreadTally {
  const kinds = new LRUCache<string, UnreadCard>({ max: KINDS_MAX })
  return {
    add: (request) => {
      const { client, dialect, path, action, reason, status } = request
      const key = JSON.stringify([client, dialect, path, action, reason, status])
      const known = kinds.get(key)
      const lastSeen = known === undefined || known.last_seen < request.last_seen ? request : known
      const requests = (known?.requests ?? 0) + 1
      kinds.set(key, { ...request, requests, last_seen: lastSeen.last_seen })
    },
    cards: () =>
      [...kinds.values()].toSorted((one, other) =>
        one.last_seen < other.last_seen ? 1 : one.last_seen > other.last_seen ? -1 : 0,
      ),
  }
}

/** What of a request's row the tally goes by. */
export function unreadOf({ client, dialect, action, reason, status, time }: UsageRow) {
  return { client, dialect, path: null, action, reason, status, last_seen: time }
}

// --- internal ---

/** Clients name themselves: those that were seen longest ago are forgotten. */
const KINDS_MAX = 100
