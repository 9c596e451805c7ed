import type { JournalName } from '../../storage/store.ts'
import { parseJsonText } from '../../json/json-value.ts'
import type { Journal, Signals } from '../journal/journal.ts'
import { usageRowSchema } from '../journal/rows.ts'
import type { ConversationCard, ConversationList, ListedConversation } from './conversation-list.ts'
import type { HeldContent } from './shown-messages.ts'
import type { Savings } from './savings.ts'
import type { TotalsKeeper, UnreadTally } from './totals.ts'

/** A conversation with what is known of its requests. */
export type ConversationDetail = Readonly<
  NonNullable<Awaited<ReturnType<ReturnType<typeof createConversations>['detail']>>>
>

/** What there is to see of conversations: those of this process, and what others on the same store have written. */
export function createConversations(parts: {
  readonly list: ConversationList
  readonly held: HeldContent
  readonly totals: Pick<TotalsKeeper, 'all' | 'addWritten' | 'savings'>
  readonly unread: UnreadTally
  readonly journal: Pick<Journal, 'events' | 'pages'>
  readonly signals: Pick<Signals, 'emit' | 'listenerCount'>
  /** This process: it has counted its own rows already. */
  readonly process: string
}) {
  const { list, held, totals, unread, journal, signals, process } = parts
  const readUpTo: Partial<Record<JournalName, string>> = {}
  let reading: Promise<boolean> | null = null

  /** Calls `take` with each row that was written since the last look; resolves with whether one was news. */
  async function readOn(name: JournalName, take: (text: string) => boolean): Promise<boolean> {
    let isNews = false
    for await (const page of journal.pages(name, 'oldest', readUpTo[name] ?? null)) {
      for (const { id, text } of page) {
        readUpTo[name] = id
        if (take(text)) isNews = true
      }
    }
    return isNews
  }

  async function readAll(): Promise<boolean> {
    const hasTotals = await readOn('totals', (text) => {
      totals.addWritten(text)
      return true
    })
    const hasRows = await readOn('usage', (text) => {
      const row = usageRowSchema.safeParse(parseJsonText(text)).data
      if (row === undefined || row.process === process) return false
      if (row.conversation === null) unread.addRow(row)
      list.add(row, false)
      return true
    })
    return hasTotals || hasRows
  }

  /** Reads what other processes have written, those before this one included. Resolves with whether there was anything new. */
  function catchUp(): Promise<boolean> {
    // Two that read at once would take each row twice.
    reading ??= readAll().finally(() => {
      reading = null
    })
    return reading
  }

  const polling = setInterval(() => {
    if (signals.listenerCount('change') === 0) return
    void catchUp().then((isNews) => {
      if (isNews) signals.emit('change', null)
    })
  }, POLL_MS)
  polling.unref()

  function withOpenings(cards: readonly ListedConversation[]): readonly ConversationCard[] {
    const openings = held.openings(cards.map(({ id }) => id))
    return cards.map((card) => ({ ...card, opening: openings.get(card.id) ?? null }))
  }

  return {
    /** As of the last look at the store; null if nothing is on record. */
    totals: totals.all,
    /** By day, client, model and profile, the latest day first. */
    savings: async (days: number, now: Date): Promise<readonly Savings[]> => {
      await catchUp()
      return totals.savings(days, now)
    },
    /** The latest first. */
    list: async (): Promise<readonly ConversationCard[]> => {
      await catchUp()
      return withOpenings(list.cards())
    },
    /** What was part of no conversation, by its kind, the latest first. */
    unread: unread.cards,
    /** Null if nothing is on record of it. */
    detail: async (id: string) => {
      await catchUp()
      const listed = list.card(id)
      const [card] = listed === null ? [] : withOpenings([listed])
      if (card === undefined) return null
      return {
        ...card,
        /** The latest of its requests, the oldest first. */
        rows: list.rows(id),
        /** The latest of what happened to it, the newest first. */
        events: await journal.events({ limit: EVENTS_MAX, before: null, conversation: id, type: null }),
        ...held.shown(id),
      }
    },
    close: () => clearInterval(polling),
  }
}

// --- internal ---

/** How often rows of others are looked for while somebody looks at the page, in milliseconds. */
const POLL_MS = 1_000

const EVENTS_MAX = 100
