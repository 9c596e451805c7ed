import type { ConversationCard, Headline } from '../conversations/conversation-cards.ts'
import { conversationList } from './conversation-list.ts'
import { eventTable, type KnownEvent } from './event-table.ts'
import { headlineSection } from './headline.ts'
import { layout, type PageSetting } from './layout.ts'
import { html, type HtmlEscapedString } from './markup.ts'

export type HomePageOptions = PageSetting & {
  readonly headline: Headline
  readonly conversations: readonly ConversationCard[]
  /** The latest of all conversations, the newest first. */
  readonly events: readonly KnownEvent[]
  /** Whether `prices` has any. */
  readonly hasPrices: boolean
  /** The base URL that clients are given. */
  readonly clientUrl: string
}

/** The page at `/`: what Foldgate has been good for, the conversations, and what happened last. */
export function homePage(options: HomePageOptions): HtmlEscapedString {
  const { headline, conversations, events, hasPrices, clientUrl, ...setting } = options
  return layout({
    ...setting,
    title: 'Foldgate',
    conversation: null,
    main: html`${headlineSection({ headline, hasPrices, clientUrl })}
    ${conversationList(conversations, setting.now)}
    ${eventTable({ events, now: setting.now, labels: new Map(conversations.map(({ id, label }) => [id, label])) })}`,
  })
}
