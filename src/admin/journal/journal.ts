import type { JournalName, JournalRow, Store } from '../../stores/store.ts'
import { parseJsonText } from '../../conversation/json-value.ts'
import type { StoreGuard } from '../../proxy/memory/store-guard.ts'
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

/** What Foldgate did, written down: events, rows of requests, and what they come to. */
export type Journal = {
  readonly writeEvent: (event: JournalEvent) => void
  readonly writeUsage: (row: UsageRow) => void
  readonly writeTotals: (text: string) => void
  /** The newest first. */
  readonly events: (query: EventQuery) => Promise<readonly StoredEvent[]>
  /** Events after `id`, the oldest first; null: from the first one on. */
  readonly eventsAfter: (id: string | null, limit: number) => Promise<readonly StoredEvent[]>
  /** The id of the newest event; null where there is none. */
  readonly lastId: () => Promise<string | null>
  /** Resolves once everything written so far is in the store, or was given up. */
  readonly flush: () => Promise<void>
  /** Drops what is not in the store yet of a conversation. */
  readonly forget: (conversation: string) => void
  /** Called after each write to the store. */
  readonly onWritten: (listener: () => void) => () => void
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

  function write(journal: JournalName, row: Row): void {
    const rows = waiting.get(journal) ?? []
    if (rows.length >= WAITING_MAX) rows.splice(0, rows.length - WAITING_MAX + 1)
    rows.push(row)
    waiting.set(journal, rows)
    timer ??= setTimeout(() => void flush(), delayMs)
  }

  function flush(): Promise<void> {
    if (timer !== null) clearTimeout(timer)
    timer = null
    // One after the other, or rows would change places.
    writing = writing.then(writeAll)
    return writing
  }

  async function writeAll(): Promise<void> {
    const all = [...waiting]
    waiting.clear()
    for (const [journal, rows] of all) {
      for (let start = 0; start < rows.length; start += ROWS_PER_WRITE) {
        const some = rows.slice(start, start + ROWS_PER_WRITE)
        const isWritten = await guarded(false, async () => {
          await store.appendRows(journal, some)
          return true
        })
        if (isWritten) continue
        for (const row of rows.slice(start)) write(journal, row)
        break
      }
    }
    for (const listener of listeners) listener()
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
      }
    },
    eventsAfter: async (id, limit) => eventsIn(await read('oldest', id, limit)),
    lastId: async () => (await read('newest', null, 1))[0]?.id ?? null,
    flush,
    forget: (conversation) => {
      for (const [journal, rows] of waiting) {
        waiting.set(
          journal,
          rows.filter(({ group }) => group !== conversation),
        )
      }
    },
    onWritten: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    close: flush,
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
