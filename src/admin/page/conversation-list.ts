import type { ConversationCard } from '../../telemetry/conversations/conversation-list.ts'
import { hasFailed } from '../told-words.ts'
import {
  conversationForm,
  type ConversationQuery,
  findConversations,
  type FoundConversations,
  listAddress,
  NAMELESS,
} from './conversation-filter.ts'
import { requestState, treeTable } from './conversation-table.ts'
import { agoElement, figure, foreignOr, html, type HtmlEscapedString, plural, table } from './markup.ts'

/** The conversations that are asked for, those first that were compacted; single requests as a line a client. */
export function conversationList(
  cards: readonly ConversationCard[],
  query: ConversationQuery,
  now: Date,
): HtmlEscapedString {
  const found = findConversations(cards, query, now)
  return html`<h2 id="conversations-title">Conversations</h2>
    ${conversationForm(cards, query)}
    <section id="conversations" data-live aria-labelledby="conversations-title">
      ${found.count === 0 ? html`<p class="soft">${cards.length === 0 ? 'None on record yet.' : 'None of several requests that fits.'}</p>` : treeTable(found.trees, now)}
      ${pageLinks(found, query)}
    </section>
    ${singleTable(found, query, now)}`
}

// --- internal ---

function pageLinks(
  { page, pages, count }: FoundConversations,
  query: ConversationQuery,
): HtmlEscapedString | false {
  const to = (number: number, words: string) =>
    number >= 1 &&
    number <= pages &&
    html`<a href="${listAddress(query, { page: String(number) })}">${words}</a>`
  return (
    pages > 1 &&
    html`<nav class="facts" aria-label="Pages of conversations">
      <span>page ${figure(page)} of ${figure(pages)}, ${plural(count, 'conversation')}</span>
      ${to(page - 1, 'before')} ${to(page + 1, 'next')}
    </nav>`
  )
}

type SingleRow = readonly [client: string | null, cards: readonly ConversationCard[]]

/** Requests that came alone: a line for each client, and a link to them one by one. */
function singleTable({ single }: FoundConversations, query: ConversationQuery, now: Date): HtmlEscapedString {
  const rows = [...single]
  return html`<section
    id="single"
    data-live
    aria-labelledby="single-title"
    ${rows.length === 0 && html`hidden`}
  >
    <h2 id="single-title">Single requests</h2>
    ${
      rows.length > 0 &&
      table<SingleRow>(rows, [
        [
          'Client',
          'text',
          ([client, cards]) =>
            html`<a href="${listAddress(query, { client: client ?? NAMELESS, show: 'all', order: 'latest' })}"
                >${foreignOr(client, 'a client without a name')}</a
              >${failedWords(cards)}`,
          { role: 'name' },
        ],
        ['Requests', 'right', ([, cards]) => figure(cards.length), { caption: 'requests' }],
        [
          'Models',
          'right',
          ([, cards]) => figure(new Set(cards.map(({ model }) => model)).size),
          { caption: 'models' },
        ],
        ['Latest request', 'text', ([, [latest]]) => (latest === undefined ? '' : requestState(latest))],
        [
          'When',
          'right soft',
          ([, [latest]]) => (latest === undefined ? '' : agoElement(latest.last_seen, now)),
        ],
      ])
    }
  </section>`
}

function failedWords(cards: readonly ConversationCard[]): HtmlEscapedString | false {
  const failed = cards.filter(hasFailed).length
  return (
    failed > 0 && html` <span class="under"><span class="state failed">${figure(failed)} failed</span></span>`
  )
}
