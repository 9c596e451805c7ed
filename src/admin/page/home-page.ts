import type { ConversationCard } from '../../activity/conversations/conversation-list.ts'
import type { Totals } from '../../activity/conversations/totals.ts'
import type { ModelCard } from '../models/model-cards.ts'
import { conversationList } from './conversation-list.ts'
import { eventTable, type KnownEvent } from './event-table.ts'
import { headlineSection } from './headline.ts'
import { layout, type PageSetting } from './layout.ts'
import { html, type HtmlEscapedString } from './markup.ts'
import { modelTable } from './model-table.ts'

export type HomePageOptions = PageSetting & {
  /** What all requests on record come to; null if there are none. */
  readonly totals: Totals | null
  readonly conversations: readonly ConversationCard[]
  /** The one used last first. */
  readonly models: readonly ModelCard[]
  /** The latest of all conversations, the newest first. */
  readonly events: readonly KnownEvent[]
  /** Whether `prices` has any. */
  readonly hasPrices: boolean
  /** The base URL that clients are given. */
  readonly clientUrl: string
}

/** The page at `/`: what Foldgate has been good for, the conversations, what is believed of models, and what happened last. */
export function homePage(options: HomePageOptions): HtmlEscapedString {
  const { totals, conversations, models, events, hasPrices, clientUrl, ...setting } = options
  return layout({
    ...setting,
    title: 'Foldgate',
    conversation: null,
    main: html`${headlineSection({ totals, hasPrices, clientUrl })}
    ${conversationList(conversations, setting.now)} ${modelTable(models, setting.now)}
    ${eventTable({ events, now: setting.now, labels: new Map(conversations.map(({ id, label }) => [id, label])) })}`,
  })
}
