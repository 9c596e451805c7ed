import type { Journal } from '../journal/journal.ts'
import type { Tail } from '../journal/tail.ts'
import type { Board } from './board.ts'
import type { ConversationCard, ConversationDetail, Headline } from './conversation-cards.ts'
import type { HeldContent } from './held-content.ts'
import type { TotalsKeeper } from './totals-keeper.ts'

/** What there is to see of conversations: those of this process, and what others on the same store have written. */
export type Conversations = {
  /** As of the last look at the store. */
  readonly headline: () => Headline
  /** The latest first. */
  readonly list: () => Promise<readonly ConversationCard[]>
  /** Whether there is anything to see of it. */
  readonly isKnown: (id: string) => Promise<boolean>
  readonly detail: (id: string) => Promise<ConversationDetail | null>
}

export type ConversationsParts = {
  readonly board: Board
  readonly held: HeldContent
  readonly totals: Pick<TotalsKeeper, 'headline'>
  readonly journal: Pick<Journal, 'events'>
  readonly tail: Tail
}

export function createConversations(parts: ConversationsParts): Conversations {
  const { board, held, totals, journal, tail } = parts
  return {
    headline: totals.headline,
    list: async () => {
      await tail.catchUp()
      return board.cards()
    },
    isKnown: async (id) => {
      await tail.catchUp()
      return board.card(id) !== null
    },
    detail: async (id) => {
      await tail.catchUp()
      const card = board.card(id)
      if (card === null) return null
      return {
        ...card,
        rows: board.rows(id),
        events: await journal.events({ limit: EVENTS_MAX, before: null, conversation: id, type: null }),
        messages: held.messages(id),
        shows_content: held.showsContent,
      }
    },
  }
}

// --- internal ---

const EVENTS_MAX = 100
