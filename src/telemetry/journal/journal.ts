import type { EventEmitter } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { parseJsonText } from '../../json/json-value.ts'
import type { StoreGuard } from '../../storage/store-guard.ts'
import type { JournalName, JournalRow, Store } from '../../storage/store.ts'
import type { Totals } from '../conversations/totals.ts'
import { journalEventSchema, type JournalEvent, type UsageRow } from './rows.ts'

/** An event with the id by which those before or after it are asked for. */
export type StoredEvent = JournalEvent & { readonly id: string }

/** Events of one conversation, of one type; null: all. */
export type EventFilter = {
  readonly conversation: string | null
  readonly type: JournalEvent['type'] | null
}

export function isAskedFor(event: JournalEvent, { conversation, type }: EventFilter): boolean {
  return (
    (conversation === null || event.conversation === conversation) && (type === null || event.type === type)
  )
}

export type EventQuery = EventFilter & {
  readonly limit: number
  /** Only events before this one; null: the newest. */
  readonly before: string | null
}

/** What is signalled within the process: that rows are in the store, and which conversation has changed (null: any). */
export type Signals = EventEmitter<{ written: []; change: [conversation: string | null] }>

export type Journal = ReturnType<typeof createJournal>

/**
 * What Foldgate did, written down: events, rows of requests, and what they come to. It writes behind: no request waits for it, and many rows are one write. If the store is away for long, the oldest of the
 * rows that wait are lost.
 */
export function createJournal(options: {
  readonly store: Pick<Store, 'appendRows' | 'readRows'>
  readonly guarded: StoreGuard
  readonly signals: Pick<Signals, 'emit'>
  /** How long rows wait for others to be written with, in milliseconds. Default 250. */
  readonly delayMs?: number
}) {
  const { store, guarded, signals, delayMs = DELAY_MS } = options
  const waiting = new Map<JournalName, Set<Row>>()
  let timer: NodeJS.Timeout | null = null
  let writing: Promise<void> = Promise.resolve()
  let isClosed = false

  function flush(): Promise<void> {
    if (timer !== null) clearTimeout(timer)
    timer = null
    // One after the other, or rows would change places.
    writing = writing.then(writeAll)
    return writing
  }

  /** Rows wait until they are in the store: meanwhile they may be forgotten, and a failure leaves them in their order. */
  async function writeAll(): Promise<void> {
    let areLeft = false
    for (const [journal, rows] of waiting) {
      while (rows.size > 0) {
        const some = [...rows.values().take(ROWS_PER_WRITE)]
        const isWritten = await guarded(false, async () => {
          await store.appendRows(journal, some)
          // Here, and so after a store that answered too late as well: no row is written twice.
          for (const row of some) rows.delete(row)
          return true
        })
        if (!isWritten) {
          areLeft = true
          break
        }
        await setImmediate()
      }
    }
    // A store that is away must not hold up the end.
    if (areLeft && !isClosed) timer ??= setTimeout(flush, delayMs)
    signals.emit('written')
  }

  /** The rows of a journal beyond `id`, page by page: other work is done in between. */
  async function* pages(
    journal: JournalName,
    from: 'oldest' | 'newest',
    id: string | null,
  ): AsyncGenerator<readonly JournalRow[]> {
    for (let beyond = id; ;) {
      const page = await guarded([], () => store.readRows(journal, { from, beyond, limit: ROWS_PER_READ }))
      yield page
      beyond = page.at(-1)?.id ?? null
      if (page.length < ROWS_PER_READ || beyond === null) return
      await setImmediate()
    }
  }

  return {
    /** A row with a conversation is deleted together with it. */
    write: (journal: JournalName, row: JournalEvent | UsageRow | Totals): void => {
      const conversation = 'conversation' in row ? row.conversation : null
      const text = textOf(row)
      const rows = waiting.get(journal) ?? new Set()
      if (rows.size >= WAITING_MAX) for (const oldest of rows.values().take(1)) rows.delete(oldest)
      waiting.set(journal, rows.add(conversation === null ? { text } : { text, group: conversation }))
      if (!isClosed) timer ??= setTimeout(flush, delayMs)
    },
    /** The newest first. */
    events: async ({ limit, before, ...filter }: EventQuery): Promise<readonly StoredEvent[]> => {
      const found: StoredEvent[] = []
      for await (const page of pages('events', 'newest', before)) {
        for (const event of eventsIn(page)) {
          if (isAskedFor(event, filter)) found.push(event)
          if (found.length >= limit) return found
        }
      }
      return found
    },
    /**
     * Events after `id`, the oldest first; null: from the first one on. `upTo`: where reading ended, be it with an event of a form
     * that is not known here. `isMore`: whether there may be more after them.
     */
    eventsAfter: async (id: string | null) => {
      const { value: page = [] } = await pages('events', 'oldest', id).next()
      return { events: eventsIn(page), upTo: page.at(-1)?.id ?? id, isMore: page.length === ROWS_PER_READ }
    },
    /** The id of the newest event; null if there is none. */
    lastId: async (): Promise<string | null> => {
      const newest = { from: 'newest', beyond: null, limit: 1 } as const
      return (await guarded([], () => store.readRows('events', newest)))[0]?.id ?? null
    },
    pages,
    /** Resolves once everything written so far is in the store, or the store has failed: then it goes on waiting. */
    flush,
    /** Drops what is not in the store yet of a conversation. */
    forget: (conversation: string): void => {
      for (const rows of waiting.values())
        for (const row of rows) if (row.group === conversation) rows.delete(row)
    },
    /** Flushes for the last time: what the store does not take now is lost. */
    close: (): Promise<void> => {
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

/** Rows of a page. Each page is read in one go, with SQLite in some milliseconds. */
const ROWS_PER_READ = 200

/** Rows of a journal that wait for a store that does not answer. */
const WAITING_MAX = 10_000

/** What a row says: reading puts back what is null or empty, which is half of most rows. */
function textOf(row: JournalEvent | UsageRow | Totals): string {
  const said: Record<string, unknown> = { ...row }
  for (const name in said) {
    const value = said[name]
    if (value === null || (Array.isArray(value) && value.length === 0)) said[name] = undefined
  }
  return JSON.stringify(said)
}

/** A row that another version wrote in another form is passed over. */
function eventsIn(rows: readonly JournalRow[]): StoredEvent[] {
  return rows.flatMap(({ id, text }) => {
    const event = journalEventSchema.safeParse(parseJsonText(text)).data
    return event === undefined ? [] : [{ ...event, id }]
  })
}
