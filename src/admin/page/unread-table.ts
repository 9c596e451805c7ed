import type { UnreadCard } from '../../activity/conversations/unread-tally.ts'
import { clientName } from './client-name.ts'
import { requestState } from './conversation-list.ts'
import { ago, figure, moment } from './figures.ts'
import { foreign, html, type HtmlEscapedString } from './markup.ts'

/** Requests that are part of no conversation: who sent them, what became of them and what would change that. Nothing if there are none. */
export function unreadTable(cards: readonly UnreadCard[], now: Date): HtmlEscapedString {
  return html`<section
    id="unread"
    data-live
    aria-labelledby="unread-title"
    ${cards.length === 0 ? html`hidden` : null}
  >
    <h2 id="unread-title">Requests outside of conversations</h2>
    ${cards.length > 0 && table(cards, now)}
  </section>`
}

// --- internal ---

function table(cards: readonly UnreadCard[], now: Date): HtmlEscapedString {
  return html`<table>
    <thead>
      <tr>
        <th scope="col">Client</th>
        <th scope="col">API</th>
        <th scope="col">What became of it</th>
        <th scope="col" class="right">Requests</th>
        <th scope="col" class="right">When</th>
      </tr>
    </thead>
    <tbody>
      ${cards.map((card) => row(card, now))}
    </tbody>
  </table>`
}

function row(card: UnreadCard, now: Date): HtmlEscapedString {
  const { client, dialect, path, requests, last_seen: lastSeen } = card
  const name = clientName(client)
  return html`<tr>
    <th scope="row" class="text">${name === null ? 'a client without a name' : foreign(name)}</th>
    <td>${path !== null ? html`<code>${path}</code>` : foreign((dialect ?? '').replaceAll('-', ' '))}</td>
    <td class="text">${requestState(card)}</td>
    <td class="right" data-name="requests">${figure(requests)}</td>
    <td class="right soft">
      <time datetime="${lastSeen}" title="${moment(lastSeen)}">${ago(lastSeen, now)}</time>
    </td>
  </tr>`
}
