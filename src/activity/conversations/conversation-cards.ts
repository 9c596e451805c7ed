import type { MessageTreatment } from '../../compaction/report.ts'
import type { JournalEvent, UsageRow } from '../journal/rows.ts'

/** What all requests that are on record come to. */
export type Headline = {
  /** When the first of them was; null where there are none. */
  readonly since: string | null
  readonly requests: number
  /** Requests that would have been refused as they came. */
  readonly beyondWindow: number
  /** Requests of which that is not known. */
  readonly beyondUnknown: number
  readonly compactions: number
  readonly recoveries: number
  /** Tokens that were received and not sent on, by Foldgate's own count; below 0 where more was sent than came. */
  readonly savedTokens: number
  /** The same that profiles which only observe would have left out. */
  readonly observedTokens: number
  /** Prompt and completion tokens of summary calls, by the provider's count. */
  readonly summaryTokens: number
  /**
   * What prompts would have cost whole and did cost, and what summaries cost, in the currency of `prices`. Null where
   * nothing is known of it; `unknownRequests` of the changed ones, and `unknownSummaries`, have no price or no usage.
   */
  readonly savedMoney: number | null
  readonly summaryMoney: number | null
  readonly unknownRequests: number
  readonly unknownSummaries: number
}

/** A conversation in a line: what the list shows. */
export type ConversationCard = {
  readonly id: string
  /** The conversation that it branched off; null where it did not. */
  readonly parent: string | null
  readonly label: string | null
  readonly client_key: string | null
  readonly profile: string | null
  readonly model: string
  /** ISO 8601, in UTC. */
  readonly first_seen: string
  readonly last_seen: string
  /** Whether an answer is on its way just now. */
  readonly answering: boolean
  readonly requests: number
  readonly compactions: number
  readonly beyond_window: number
  /** Those of the latest request; null where nothing was measured. */
  readonly pressure: number | null
  readonly sent_pressure: number | null
  readonly tokens_received: number | null
  readonly tokens_sent: number | null
  /** Whether both are upper bounds, since counting was not needed. */
  readonly tokens_are_bounds: boolean
  /** What would have been sent, where the profile only observes; null under any other. */
  readonly observed_tokens_sent: number | null
  readonly window_tokens: number | null
  readonly action: string
}

/** A conversation with what is known of its requests: the latest of them, the oldest first. */
export type ConversationDetail = ConversationCard & {
  readonly rows: readonly UsageRow[]
  /** The latest of them, the newest first. */
  readonly events: readonly (JournalEvent & { readonly id: string })[]
  /** What became of each message of the latest request; null where this process no longer holds it. */
  readonly messages: readonly ShownMessage[] | null
  /** Whether texts are shown where they are held (`admin.show_content`). */
  readonly shows_content: boolean
}

/** A message of the latest request, with its texts where they may be shown and are still held. */
export type ShownMessage = MessageTreatment & {
  /** Its JSON as it came and as it was sent, both cut at some length; null where there is none or it is not held. */
  readonly received: string | null
  readonly sent: string | null
}
