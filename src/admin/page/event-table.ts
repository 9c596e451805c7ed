import type { JournalEvent } from '../../activity/journal/rows.ts'
import { conversationLink } from './conversation-list.ts'
import { alarming, eventDetails, eventNames, eventReason } from './event-words.ts'
import { clock, duration, figure, moment } from './figures.ts'
import { foreign, html, type HtmlEscapedString } from './markup.ts'

/** An event of the journal with the id that it was written under. */
export type KnownEvent = JournalEvent & { readonly id: string }

export type EventTableOptions = {
  /** The newest first. */
  readonly events: readonly KnownEvent[]
  readonly now: Date
  /** The labels of conversations, by id. Null: all events are of one conversation, and it is not said of which. */
  readonly labels: ReadonlyMap<string, string | null> | null
}

/** What Foldgate did or met, the newest first. */
export function eventTable({ events, now, labels }: EventTableOptions): HtmlEscapedString {
  return html`<section id="events" data-live aria-labelledby="events-title">
    <h2 id="events-title">Events</h2>
    ${
      events.length === 0
        ? html`<p class="soft">
            Nothing happened yet: compactions, recoveries and failures are listed here.
          </p>`
        : html`<table class="events">
            <thead>
              <tr>
                <th scope="col">Time, UTC</th>
                <th scope="col">Event</th>
                ${labels !== null && html`<th scope="col">Conversation</th>`}
                <th scope="col">What</th>
                <th scope="col" class="right">Tokens</th>
                <th scope="col" class="right">Took</th>
              </tr>
            </thead>
            <tbody>
              ${events.map((event) => row(event, now, labels))}
            </tbody>
          </table>`
    }
  </section>`
}

// --- internal ---

function row(event: KnownEvent, now: Date, labels: EventTableOptions['labels']): HtmlEscapedString {
  const { conversation, tokens_before, tokens_after } = event
  return html`<tr id="event-${event.id}">
    <td class="cell-time">
      <time datetime="${event.time}" title="${moment(event.time)}">${clock(event.time, now)}</time>
    </td>
    <td class="cell-event">
      <span class="${alarming.has(event.type) ? 'badge warned' : 'badge'}">${eventNames[event.type]}</span>
    </td>
    ${labels !== null && html`<td class="cell-of">${conversation !== null && conversationLink({ id: conversation, label: labels.get(conversation) ?? null })}</td>`}
    <td class="cell-what">${what(event)}</td>
    <td class="cell-tokens right">
      ${tokens_before === null && tokens_after === null ? null : `${figure(tokens_before)} → ${figure(tokens_after)}`}
    </td>
    <td class="cell-took right">${event.milliseconds !== null && duration(event.milliseconds)}</td>
  </tr>`
}

function what(event: KnownEvent): HtmlEscapedString {
  const reason = eventReason(event)
  const parts = [
    ...(reason === null ? [] : [html`<span>${foreign(reason)}</span>`]),
    ...(event.passes.length === 0 ? [] : [html`<span class="passes">${event.passes.join(' · ')}</span>`]),
    ...eventDetails(event).map((detail) => html`<span class="detail">${foreign(detail)}</span>`),
  ]
  return html`${parts.map((part) => html`${part} `)}`
}
