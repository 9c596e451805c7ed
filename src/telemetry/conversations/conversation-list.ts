import { LRUCache } from 'lru-cache'
import type { BegunRow, UsageRow } from '../journal/rows.ts'
import type { Opening } from '../request-report.ts'

/** A conversation in a line: what the list shows. What stands for one request is that of the latest. */
export type ConversationCard = ListedConversation & {
  /** What it begins with; null if that may not be shown, or is not held. */
  readonly opening: Opening | null
}

export type ListedConversation = Readonly<ReturnType<typeof cardOf>>

/** A row without what only the end of its request tells. */
type BareRow = Pick<UsageRow, keyof BegunRow>

export type ConversationList = ReturnType<typeof createConversationList>

/** The conversations of late, made of the rows of their requests. Holds figures and names only. */
export function createConversationList() {
  const entries = new LRUCache<string, Entry>({ max: CONVERSATIONS_MAX, maxSize: ROWS_MAX })

  function entryOf(conversation: string, row: BareRow): Entry {
    const entry = entries.get(conversation) ?? newEntry(row)
    entries.set(conversation, entry, { size: Math.max(1, entry.rows.length) })
    return entry
  }

  return {
    /** A request is being answered. */
    begin: (row: BareRow): void => {
      if (row.conversation === null) return
      const entry = entryOf(row.conversation, row)
      entry.latest = row
      entry.answering += 1
    },
    /** A request has ended. `isOwn`: it was begun here. */
    add: (row: UsageRow, isOwn: boolean): void => {
      if (row.conversation === null) return
      const entry = entryOf(row.conversation, row)
      const { rows } = entry
      if (rows.length >= ROWS_PER_CONVERSATION_MAX) rows.splice(0, ROWS_DROPPED)
      rows.push(row)
      // Rows of other processes come late, and not in order.
      if ((rows.at(-2)?.time ?? '') > row.time) rows.sort((one, other) => inOrder(one.time, other.time))
      if (entry.latest.time <= row.time) entry.latest = row
      if (row.time < entry.firstSeen) entry.firstSeen = row.time
      if (isOwn) entry.answering = Math.max(0, entry.answering - 1)
      entry.requests += 1
      if (row.compaction !== null) entry.compactions += 1
      if (row.beyond_window === true) entry.beyondWindow += 1
      // Another object: the cache takes no new size for one that it holds already.
      entries.set(row.conversation, { ...entry }, { size: rows.length })
    },
    /** The latest first. */
    cards: (): readonly ListedConversation[] =>
      Array.from(entries, ([id, entry]) => cardOf(id, entry)).sort(
        (one, other) => inOrder(other.last_seen, one.last_seen) || inOrder(one.id, other.id),
      ),
    card: (id: string): ListedConversation | null => {
      const entry = entries.get(id)
      return entry === undefined ? null : cardOf(id, entry)
    },
    /** The latest requests of a conversation, the oldest first. */
    rows: (id: string): readonly UsageRow[] => [...(entries.get(id)?.rows ?? [])],
    /** Whether there was anything. */
    forget: (id: string): boolean => entries.delete(id),
  }
}

/** Compares texts by their code units, as ISO times and ids are compared. */
export function inOrder(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}

// --- internal ---

const CONVERSATIONS_MAX = 1_000

/** Rows of all conversations together: about half a kilobyte each. */
const ROWS_MAX = 20_000

/** More points than a chart can show; the oldest go, so many at a time. */
const ROWS_PER_CONVERSATION_MAX = 500
const ROWS_DROPPED = 50

type Entry = ReturnType<typeof newEntry>

/** `answering`: requests that are being answered by this process. */
function newEntry(latest: BareRow) {
  const rows: UsageRow[] = []
  return { rows, latest, firstSeen: latest.time, answering: 0, requests: 0, compactions: 0, beyondWindow: 0 }
}

function cardOf(id: string, { latest, rows, ...entry }: Entry) {
  return {
    id,
    parent: latest.parent,
    label: latest.label ?? rows.findLast(({ label }) => label !== null)?.label ?? null,
    client_key: latest.client_key,
    client: latest.client,
    dialect: latest.dialect,
    profile: latest.profile,
    model: latest.model,
    /** ISO 8601, in UTC. */
    first_seen: entry.firstSeen,
    last_seen: latest.time,
    /** Whether an answer is on its way just now. */
    answering: entry.answering > 0,
    requests: entry.requests,
    compactions: entry.compactions,
    beyond_window: entry.beyondWindow,
    pressure: latest.pressure,
    sent_pressure: latest.sent_pressure,
    tokens_received: latest.tokens_received,
    tokens_sent: latest.tokens_sent,
    tokens_are_bounds: latest.tokens_are_bounds,
    observed_tokens_sent: latest.observed_tokens_sent,
    window_tokens: latest.window_tokens,
    action: latest.action,
    reason: latest.reason,
    status: latest.status,
    outcome: latest.outcome,
  }
}
