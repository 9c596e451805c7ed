import type { ConversationCard } from '../../activity/conversations/conversation-list.ts'
import { ago, boundedFigure, figure, moment } from './figures.ts'
import { gauge } from './gauge.ts'
import { foreign, html, type HtmlEscapedString } from './markup.ts'

/** The conversations, the latest first, each a row that keeps its identity while it moves. */
export function conversationList(cards: readonly ConversationCard[], now: Date): HtmlEscapedString {
  const latestFirst = cards.toSorted((one, other) => other.last_seen.localeCompare(one.last_seen))
  return html`<section id="conversations" data-live aria-labelledby="conversations-title">
    <h2 id="conversations-title">Conversations</h2>
    ${latestFirst.length === 0 ? html`<p class="soft">None on record yet.</p>` : table(latestFirst, now)}
  </section>`
}

/** The page of a conversation. */
export function conversationPath(id: string): string {
  // A damaged row may hold half a character, of which no address can be made.
  return `/conversations/${encodeURIComponent(id.toWellFormed())}`
}

/** A link to a conversation's page, by its label where it has one. */
export function conversationLink({ id, label }: Pick<ConversationCard, 'id' | 'label'>): HtmlEscapedString {
  return label === null
    ? html`<a href="${conversationPath(id)}"><code>${id}</code></a>`
    : html`<a href="${conversationPath(id)}">${foreign(label)}</a>`
}

/** What was done with the latest request; marked where Foldgate had to step back. */
export function actionWord(action: string): HtmlEscapedString {
  const steppedBack = action === 'failed-open' || action === 'restored'
  return html`<span class="${steppedBack ? 'action warned' : 'action'}">${action}</span>`
}

/** Shown while an answer is on its way. */
export const answeringMark = html`<span class="answering">answering</span>`

/** What would have been sent, said of a conversation whose profile only observes. */
export function observedWords(tokens: number): string {
  return `observed: ${figure(tokens)} would be sent`
}

// --- internal ---

function table(cards: readonly ConversationCard[], now: Date): HtmlEscapedString {
  return html`<table>
    <thead>
      <tr>
        <th scope="col">Pressure <span class="key">▼ as sent</span></th>
        <th scope="col">Conversation</th>
        <th scope="col" class="right">Tokens in → sent</th>
        <th scope="col" class="right">Requests</th>
        <th scope="col" class="right">Compactions</th>
        <th scope="col">Last action</th>
        <th scope="col" class="right">When</th>
      </tr>
    </thead>
    <tbody>
      ${cards.map((card) => row(card, now))}
    </tbody>
  </table>`
}

function row(card: ConversationCard, now: Date): HtmlEscapedString {
  return html`<tr id="conversation-${card.id}">
    <td>${gauge(card.pressure, card.sent_pressure)}</td>
    <th scope="row" class="text">
      ${conversationLink(card)} ${card.answering && answeringMark} <span class="under">${under(card)}</span>
    </th>
    <td class="right">
      ${boundedFigure(card.tokens_received, card.tokens_are_bounds)} →
      ${boundedFigure(card.tokens_sent, card.tokens_are_bounds)}
      ${card.observed_tokens_sent !== null && html`<span class="under">${observedWords(card.observed_tokens_sent)}</span>`}
    </td>
    <td class="right">${figure(card.requests)}</td>
    <td class="right">${figure(card.compactions)}</td>
    <td>${actionWord(card.action)}</td>
    <td class="right soft">
      <time datetime="${card.last_seen}" title="${moment(card.last_seen)}">${ago(card.last_seen, now)}</time>
    </td>
  </tr>`
}

function under({ model, profile, client_key, label, id }: ConversationCard): HtmlEscapedString {
  return html`<span>${model === '' ? 'no model named' : foreign(model)}</span>
    ${profile !== null && html`<span>${foreign(profile)}</span>`}
    ${client_key !== null && html`<span>key ${foreign(client_key)}</span>`}
    ${label !== null && html`<span class="id">${id}</span>`}`
}
