import type { ConversationCard } from '../../activity/conversations/conversation-list.ts'
import type { StoredEvent } from '../../activity/journal/journal.ts'
import type { ModelCard } from '../models/model-cards.ts'
import type { UnreadCard } from '../../activity/conversations/unread-tally.ts'
import { conversationList, conversationName } from './conversation-list.ts'
import { eventTable } from './event-table.ts'
import { headlineSection, type HeadlineOptions } from './headline.ts'
import { layout, type PageSetting } from './layout.ts'
import { html, type HtmlEscapedString } from './markup.ts'
import { modelTable } from './model-table.ts'
import { unreadTable } from './unread-table.ts'

export type HomePageOptions = PageSetting &
  Omit<HeadlineOptions, 'statefulDialect'> & {
    readonly conversations: readonly ConversationCard[]
    /** Requests that are part of none, by their kind. */
    readonly unread: readonly UnreadCard[]
    /** The one used last first. */
    readonly models: readonly ModelCard[]
    /** The latest of all conversations, the newest first. */
    readonly events: readonly StoredEvent[]
  }

/** The page at `/`: what Foldgate has been good for, the conversations, what is believed of models, and what happened last. */
export function homePage(options: HomePageOptions): HtmlEscapedString {
  const { totals, conversations, unread, models, events, hasPrices, clientUrl, ...setting } = options
  const names = new Map(conversations.map((card) => [card.id, conversationName(card)]))
  return layout({
    ...setting,
    title: 'Foldgate',
    conversation: null,
    main: html`${headlineSection({ totals, hasPrices, clientUrl, statefulDialect: statefulDialect(unread) })}
    ${conversationList(conversations, setting.now)} ${unreadTable(unread, setting.now)}
    ${modelTable(models, setting.now)}
    ${eventTable({ events, now: setting.now, names, hadEvents: (totals?.compactions ?? 0) > 0 })}`,
  })
}

// --- internal ---

/** The API of the latest request that left its conversation at the server. */
function statefulDialect(unread: readonly UnreadCard[]): string | null {
  return unread.find(({ action, reason }) => action === 'relayed' && reason === 'stateful')?.dialect ?? null
}
