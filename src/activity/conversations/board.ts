import { LRUCache } from 'lru-cache'
import type { UsageRow } from '../journal/rows.ts'
import type { ConversationCard } from './conversation-cards.ts'

/** The conversations of late, by what rows of requests say. Holds figures and names only. */
export type Board = {
  /** A request is being answered: its row without what only its end tells. */
  readonly begin: (row: UsageRow) => void
  /** A request has ended. `isOwn`: it was begun here. */
  readonly add: (row: UsageRow, isOwn: boolean) => void
  /** The latest first. */
  readonly cards: () => readonly ConversationCard[]
  readonly card: (id: string) => ConversationCard | null
  /** The latest requests of a conversation, the oldest first. */
  readonly rows: (id: string) => readonly UsageRow[]
  /** Whether there was anything. */
  readonly forget: (id: string) => boolean
}

export function createBoard(): Board {
  const entries = new LRUCache<string, Entry>({
    max: CONVERSATIONS_MAX,
    maxSize: ROWS_MAX,
    sizeCalculation: ({ rows }) => Math.max(1, rows.length),
  })

  function entryOf(conversation: string, row: UsageRow): Entry {
    const known = entries.get(conversation)
    if (known !== undefined) return known
    const entry = {
      rows: [],
      latest: row,
      answering: 0,
      firstSeen: row.time,
      requests: 0,
      compactions: 0,
      beyond: 0,
    }
    entries.set(conversation, entry)
    return entry
  }

  return {
    begin: (row) => {
      if (row.conversation === null) return
      const entry = entryOf(row.conversation, row)
      entry.latest = row
      entry.answering += 1
    },
    add: (row, isOwn) => {
      if (row.conversation === null) return
      const entry = entryOf(row.conversation, row)
      const { rows } = entry
      if (rows.length >= ROWS_PER_CONVERSATION_MAX) rows.splice(0, ROWS_DROPPED)
      rows.push(row)
      // Rows of other processes come late, and not in order.
      if ((rows.at(-2)?.time ?? '') > row.time) rows.sort(byTime)
      if (entry.latest.time <= row.time) entry.latest = row
      if (row.time < entry.firstSeen) entry.firstSeen = row.time
      if (isOwn) entry.answering = Math.max(0, entry.answering - 1)
      entry.requests += 1
      if (row.compaction !== null) entry.compactions += 1
      if (row.beyond_window === true) entry.beyond += 1
      // Another object: the size of one that stands already is not looked at again.
      entries.set(row.conversation, { ...entry })
    },
    cards: () =>
      Array.from(entries, ([id, entry]) => cardOf(id, entry)).sort((one, other) =>
        one.last_seen < other.last_seen
          ? 1
          : one.last_seen > other.last_seen
            ? -1
            : one.id < other.id
              ? -1
              : 1,
      ),
    card: (id) => {
      const entry = entries.get(id)
      return entry === undefined ? null : cardOf(id, entry)
    },
    rows: (id) => [...(entries.get(id)?.rows ?? [])],
    forget: (id) => entries.delete(id),
  }
}

// --- internal ---

const CONVERSATIONS_MAX = 1_000

/** Rows of all conversations together: about half a kilobyte each. */
const ROWS_MAX = 20_000

/** More points than a chart can show; the oldest go, so many at a time. */
const ROWS_PER_CONVERSATION_MAX = 500
const ROWS_DROPPED = 50

function byTime(one: UsageRow, other: UsageRow): number {
  return one.time < other.time ? -1 : one.time > other.time ? 1 : 0
}

type Entry = {
  readonly rows: UsageRow[]
  latest: UsageRow
  /** Requests that are being answered by this process. */
  answering: number
  firstSeen: string
  requests: number
  compactions: number
  beyond: number
}

function cardOf(id: string, { latest, answering, rows, ...counts }: Entry): ConversationCard {
  return {
    id,
    parent: latest.parent,
    label: latest.label ?? rows.findLast(({ label }) => label !== null)?.label ?? null,
    client_key: latest.client_key,
    profile: latest.profile,
    model: latest.model,
    first_seen: counts.firstSeen,
    last_seen: latest.time,
    answering: answering > 0,
    requests: counts.requests,
    compactions: counts.compactions,
    beyond_window: counts.beyond,
    pressure: latest.pressure,
    sent_pressure: latest.sent_pressure,
    tokens_received: latest.tokens_received,
    tokens_sent: latest.tokens_sent,
    tokens_are_bounds: latest.tokens_are_bounds,
    observed_tokens_sent: latest.observed_tokens_sent,
    window_tokens: latest.window_tokens,
    action: latest.action,
  }
}
