import type { StoredEvent } from '../../activity/journal/journal.ts'
import type { JournalEvent } from '../../activity/journal/rows.ts'
import { compactionWords, treatedInDetails, treatedNames } from './compaction-words.ts'
import { conversationLink } from './conversation-list.ts'
import { eventDetails, eventReason } from './event-words.ts'
import { clock, duration, figure, moment } from './figures.ts'
import { foreign, html, type HtmlEscapedString } from './markup.ts'

export type EventTableOptions = {
  /** The newest first. */
  readonly events: readonly StoredEvent[]
  readonly now: Date
  /** The names of conversations, by id. Null: all events are of one conversation, and it is not said of which. */
  readonly names: ReadonlyMap<string, string | null> | null
  /** Whether something is known to have happened: events that are not there are gone. */
  readonly hadEvents: boolean
}

/** What Foldgate did or met, the newest first. */
export function eventTable({ events, now, names, hadEvents }: EventTableOptions): HtmlEscapedString {
  return html`<section id="events" data-live aria-labelledby="events-title">
    <h2 id="events-title">Events</h2>
    ${
      events.length === 0
        ? html`<p class="soft">
            ${hadEvents ? 'No longer on record: the journal’s rows of what happened were deleted, or their time was up.' : 'Nothing happened yet: compactions, recoveries and failures are listed here.'}
          </p>`
        : html`<table>
            <thead>
              <tr>
                <th scope="col">Time, UTC</th>
                <th scope="col">Event</th>
                ${names !== null && html`<th scope="col">Conversation</th>`}
                <th scope="col">What</th>
                <th scope="col" class="right">Tokens</th>
                <th scope="col" class="right">Took</th>
              </tr>
            </thead>
            <tbody>
              ${events.map((event) => row(event, now, names))}
            </tbody>
          </table>`
    }
  </section>`
}

// --- internal ---

/** What kind of thing an event is, in a word or two. */
const eventNames = {
  compaction: 'Compaction',
  recovery: 'Recovery',
  refusal: 'Refusal',
  restored: 'Restored',
  failure: 'Failure',
  error: 'Error',
  window: 'Window',
  summary: 'Summary',
  'reasoning-removed': 'Reasoning lost',
  'cache-missed': 'Cache missed',
  'compact-requested': 'Asked to compact',
} as const satisfies Record<JournalEvent['type'], string>

/** Those that an operator should look at. */
const alarming: ReadonlySet<JournalEvent['type']> = new Set([
  'failure',
  'error',
  'refusal',
  'restored',
  'reasoning-removed',
])

function row(event: StoredEvent, now: Date, names: EventTableOptions['names']): HtmlEscapedString {
  const { conversation, tokens_before, tokens_after } = event
  return html`<tr id="event-${event.id}">
    <td class="soft">
      <time datetime="${event.time}" title="${moment(event.time)}">${clock(event.time, now)}</time>
    </td>
    <td>
      <span class="${alarming.has(event.type) ? 'badge warned' : 'badge'}">${eventNames[event.type]}</span>
    </td>
    ${names !== null && html`<td class="name">${conversation !== null && conversationLink(conversation, names.get(conversation) ?? null)}</td>`}
    <td class="text">${what(event)}</td>
    <td class="right">
      ${tokens_before === null && tokens_after === null ? null : `${figure(tokens_before)} → ${figure(tokens_after)}`}
    </td>
    <td class="right soft">${event.milliseconds !== null && duration(event.milliseconds)}</td>
  </tr>`
}

function what(event: StoredEvent): HtmlEscapedString {
  const { type, passes, details } = event
  const isCompaction = type === 'compaction'
  const done = isCompaction ? compactionWords(treatedInDetails(details), 'message') : null
  const why = eventReason(event)
  const parts = [
    ...(done === null ? [] : [html`<span>${done}.</span>`]),
    ...(why === null
      ? []
      : [html`<span ${done === null ? null : html`class="soft"`}>${foreign(why)}</span>`]),
    ...(done !== null || passes.length === 0
      ? []
      : [html`<span class="passes">${passes.join(' · ')}</span>`]),
    ...eventDetails(details, (name) => isCompaction && treatedNames.has(name)).map(
      (words) => html`<span class="soft">${foreign(words)}</span>`,
    ),
  ]
  return html`${parts.map((part) => html`${part} `)}`
}
