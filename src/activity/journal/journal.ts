import { setImmediate } from 'node:timers/promises'
import type { JournalName, JournalRow, Store } from '../../stores/store.ts'
import { parseJsonText } from '../../conversation/json-value.ts'
import type { StoreGuard } from '../../stores/store-guard.ts'
import { journalEventSchema, type JournalEvent, type UsageRow } from './rows.ts'

/** An event with the id by which those before or after it are asked for. */
export type StoredEvent = JournalEvent & { readonly id: string }

export type EventQuery = {
  readonly limit: number
  /** Only events before this one; null: the newest. */
  readonly before: string | null
  /** Only those of one conversation, of one type; null: all. */
  readonly conversation: string | null
  readonly type: JournalEvent['type'] | null
}

export type NextEvents = {
  readonly events: readonly StoredEvent[]
  /** Up to where was read; events of a form that is not known here are passed over, too. */
  readonly upTo: string | null
  /** Whether there may be more after them. */
  readonly isMore: boolean
}

/** What Foldgate did, written down: events, rows of requests, and what they come to. */
export type Journal = {
  readonly writeEvent: (event: JournalEvent) => void
  readonly writeUsage: (row: UsageRow) => void
  readonly writeTotals: (text: string) => void
  /** The newest first. */
  readonly events: (query: EventQuery) => Promise<readonly StoredEvent[]>
  /** Events after `id`, the oldest first; null: from the first one on. */
  readonly eventsAfter: (id: string | null) => Promise<NextEvents>
  /** The id of the newest event; null where there is none. */
  readonly lastId: () => Promise<string | null>
  /** Resolves once everything written so far is in the store, or the store has failed: then it goes on waiting. */
  readonly flush: () => Promise<void>
  /** Drops what is not in the store yet of a conversation. */
  readonly forget: (conversation: string) => void
  /** `listener` is called after each write to the store, and must not throw. Returns how to stop listening. */
  readonly onWritten: (listener: () => void) => () => void
  /** Flushes for the last time: what the store does not take now is lost. */
  readonly close: () => Promise<void>
}

export type JournalOptions = {
  readonly store: Pick<Store, 'appendRows' | 'readRows'>
  readonly guarded: StoreGuard
  /** How long rows wait for others to be written with, in milliseconds. Default 250. */
  readonly delayMs?: number
}

/**
 * Writes behind: no request waits for it, and many rows are one write. A store that is away for long costs the oldest of
 * those that wait.
 */
export function createJournal(options: JournalOptions): Journal {
  const { store, guarded, delayMs = DELAY_MS } = options
  const waiting = new Map<JournalName, Row[]>()
  const listeners = new Set<() => void>()
  let timer: NodeJS.Timeout | null = null
  let writing: Promise<void> = Promise.resolve()
  let isClosed = false

  function write(journal: JournalName, row: Row): void {
    const rows = waiting.get(journal) ?? []
    if (rows.length >= WAITING_MAX) rows.splice(0, rows.length - WAITING_MAX + 1)
    rows.push(row)
    waiting.set(journal, rows)
    flushSoon()
  }

  function flushSoon(): void {
    // Whoever ends must not be held up by a store that is away.
    if (!isClosed) timer ??= setTimeout(() => void flush(), delayMs)
  }

  function flush(): Promise<void> {
    if (timer !== null) clearTimeout(timer)
    timer = null
    // One after the other, or rows would change places.
    writing = writing.then(writeAll)
    return writing
  }

  async function writeAll(): Promise<void> {
    for (const journal of waiting.keys()) await writeRows(journal)
    if (waiting.size > 0) flushSoon()
    for (const listener of listeners) listener()
  }

  /** Rows wait until they are in the store: meanwhile they may be forgotten, and whatever fails leaves them in their order. */
  async function writeRows(journal: JournalName): Promise<void> {
    for (let rows = waiting.get(journal); rows !== undefined; rows = waiting.get(journal)) {
      const some = rows.slice(0, ROWS_PER_WRITE)
      const isWritten = await guarded(false, async () => {
        await store.appendRows(journal, some)
        // Here, and so after a store that answered too late as well: no row is written twice.
        const written = new Set(some)
        keep(journal, (row) => !written.has(row))
        return true
      })
      if (!isWritten) return
      await setImmediate()
    }
  }

  function keep(journal: JournalName, isKept: (row: Row) => boolean): void {
    const kept = (waiting.get(journal) ?? []).filter(isKept)
    if (kept.length === 0) waiting.delete(journal)
    else waiting.set(journal, kept)
  }

  async function read(
    from: 'oldest' | 'newest',
    beyond: string | null,
    limit: number,
  ): Promise<readonly JournalRow[]> {
    return guarded([], () => store.readRows('events', { from, beyond, limit }))
  }

  return {
    writeEvent: (event) => write('events', rowOf(event.conversation, event)),
    writeUsage: (usage) => write('usage', rowOf(usage.conversation, usage)),
    writeTotals: (text) => write('totals', { text }),
    events: async ({ limit, before, conversation, type }) => {
      const found: StoredEvent[] = []
      let beyond = before
      for (;;) {
        const page = await read('newest', beyond, ROWS_PER_READ)
        for (const event of eventsIn(page)) {
          const isWanted =
            (conversation === null || event.conversation === conversation) &&
            (type === null || event.type === type)
          if (isWanted) found.push(event)
          if (found.length >= limit) return found
        }
        beyond = page.at(-1)?.id ?? null
        if (page.length < ROWS_PER_READ || beyond === null) return found
        await setImmediate()
      }
    },
    eventsAfter: async (id) => {
      const page = await read('oldest', id, ROWS_PER_READ)
      return { events: eventsIn(page), upTo: page.at(-1)?.id ?? id, isMore: page.length === ROWS_PER_READ }
    },
    lastId: async () => (await read('newest', null, 1))[0]?.id ?? null,
    flush,
    forget: (conversation) => {
      for (const journal of waiting.keys()) keep(journal, ({ group }) => group !== conversation)
    },
    onWritten: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    close: () => {
      isClosed = true
      return flush()
    },
  }
}

// --- internal ---

type Row = { readonly text: string; readonly group?: string }

const DELAY_MS = 250

/** Rows that one write takes: with SQLite it holds the event loop, for a millisecond or so. */
const ROWS_PER_WRITE = 200

const ROWS_PER_READ = 500

/** Rows of a journal that wait for a store that does not answer. */
const WAITING_MAX = 10_000

function rowOf(conversation: string | null, row: JournalEvent | UsageRow): Row {
  const text = JSON.stringify(row)
  return conversation === null ? { text } : { text, group: conversation }
}

/** A row that another version wrote in another form is passed over. */
function eventsIn(rows: readonly JournalRow[]): StoredEvent[] {
  return rows.flatMap(({ id, text }) => {
    const event = journalEventSchema.safeParse(parseJsonText(text)).data
    return event === undefined ? [] : [{ ...event, id }]
  })
}
