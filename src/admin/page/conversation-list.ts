import { type ConversationCard, inOrder } from '../../telemetry/conversations/conversation-list.ts'
import { hasFailed } from '../told-words.ts'
import {
  clientName,
  conversationName,
  type ConversationTree,
  requestState,
  treesOf,
  treeTable,
} from './conversation-table.ts'
import {
  agoElement,
  figure,
  foreignOr,
  html,
  type HtmlEscapedString,
  liveSection,
  plural,
  table,
} from './markup.ts'

/** What of the list of conversations is asked for: the query of the page's address. */
export type ConversationQuery = Readonly<Record<string, string | undefined>>

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

/** @internal exported for tests. The conversations that a query asks for. What it says that means nothing is passed over. */
export function findConversations(cards: readonly ConversationCard[], query: ConversationQuery, now: Date) {
  const isWanted = wantedBy(query, now)
  const wanted = treesOf(cards).filter((tree) => [tree.root, ...tree.branches].some((card) => isWanted(card)))
  const showsSingle = query['show'] === 'all'
  const trees = showsSingle ? wanted : wanted.filter((tree) => !isSingle(tree))
  const ordered =
    query['order'] === 'latest' ? trees : trees.toSorted((one, other) => rankOf(one) - rankOf(other))
  const pages = Math.max(1, Math.ceil(ordered.length / PAGE_TREES))
  const page = Math.min(pages, Math.max(1, Math.floor(Number(query['page'] ?? 1)) || 1))
  return {
    /** Those of one page, in the order that was asked for. */
    trees: ordered.slice((page - 1) * PAGE_TREES, page * PAGE_TREES),
    /** Conversations of a single request that changed nothing, by their client's name; empty if somebody asks for them one by one. */
    single: Map.groupBy(showsSingle ? [] : wanted.filter(isSingle).map(({ root }) => root), ({ client }) =>
      clientName(client),
    ),
    count: ordered.length,
    /** From 1 on. */
    page,
    pages,
  }
}

/** @internal exported for tests. The address of the page with this query changed in some places. */
export function listAddress(query: ConversationQuery, changes: ConversationQuery): string {
  const given = new URLSearchParams()
  for (const [name, value] of Object.entries({ ...query, page: undefined, ...changes }))
    if (value) given.set(name, value)
  return given.size === 0 ? '/' : `/?${given.toString()}`
}

// --- internal ---

type FoundConversations = ReturnType<typeof findConversations>

/** By which clients without a name are asked for. */
const NAMELESS = '-'

/** The form in which the list is searched: it stands outside of what is renewed, so that nobody is disturbed who types. */
function conversationForm(cards: readonly ConversationCard[], query: ConversationQuery): HtmlEscapedString {
  const select = (name: string, label: string, options: readonly Option[]) =>
    html`<label
      >${label}
      <select name="${name}">
        ${options.map(([value, words]) => html`<option value="${value}" ${value === (query[name] ?? '') && html`selected`}>${words}</option>`)}
      </select></label
    >`
  const named = (nameOf: (card: ConversationCard) => string | null) => {
    const names = new Set(cards.flatMap((card) => nameOf(card) ?? []))
    names.delete('')
    return [...names].toSorted(inOrder).map((name): Option => [name, name])
  }
  return html`<form class="filter" method="get" action="/" role="search" aria-label="Conversations">
    <label
      >Search <input type="search" name="q" value="${query['q'] ?? ''}" maxlength="${SEARCH_CHARS_MAX}"
    /></label>
    ${select('client', 'Client', [all, ...named(({ client }) => clientName(client))])}
    ${select('model', 'Model', [all, ...named(({ model }) => model)])}
    ${select('profile', 'Profile', [all, ...named(({ profile }) => profile)])}
    ${select('action', 'Latest', [all, ['failed', 'failed'], ...named(({ action }) => action)])}
    ${select('since', 'Time', times)}
    ${select('order', 'Order', [
      ['', 'compacted first'],
      ['latest', 'latest first'],
    ])}
    ${query['show'] === 'all' && html`<input type="hidden" name="show" value="all" />`}
    <button type="submit">Show</button>
    ${Object.keys(query).length > 0 && html`<a href="/">all</a>`}
  </form>`
}

/** `forMs`: how long ago the latest request may be. */
type Option = readonly [value: string, words: string, forMs?: number]

const all: Option = ['', 'all']

const PAGE_TREES = 50

const HOUR_MS = 3_600_000

const times: readonly Option[] = [
  ['', 'any'],
  ['1h', 'last hour', HOUR_MS],
  ['1d', 'last day', 24 * HOUR_MS],
  ['7d', 'last week', 168 * HOUR_MS],
]

/** A request that came alone and went on as it came: a hundred of them say no more than how many they are. */
function isSingle({ root, branches }: ConversationTree): boolean {
  const { requests, compactions, answering, label } = root
  return branches.length === 0 && requests <= 1 && compactions === 0 && !answering && label === null
}

function rankOf({ root, branches }: ConversationTree): number {
  return [root, ...branches].some(({ compactions }) => compactions > 0) ? 0 : 1
}

function wantedBy(query: ConversationQuery, now: Date): (card: ConversationCard) => boolean {
  const { client, model, profile, action, since } = query
  const sinceMs = times.find(([value]) => value === since)?.[2] ?? Infinity
  const words = (query['q'] ?? '').slice(0, SEARCH_CHARS_MAX).toLowerCase().split(/\s+/)
  return function isWanted(card) {
    const name = clientName(card.client)
    const text = [card.id, conversationName(card), card.label, name, card.model, card.profile]
      .join('\n')
      .toLowerCase()
    return (
      (!client || (name ?? NAMELESS) === client) &&
      (!model || card.model === model) &&
      (!profile || card.profile === profile) &&
      (!action || (action === 'failed' ? hasFailed(card) : card.action === action)) &&
      now.getTime() - Date.parse(card.last_seen) <= sinceMs &&
      words.every((word) => text.includes(word))
    )
  }
}

const SEARCH_CHARS_MAX = 200

function pageLinks({ page, pages, count }: FoundConversations, query: ConversationQuery) {
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

/** Requests that came alone: a line for each client, and a link to them one by one. */
function singleTable({ single }: FoundConversations, query: ConversationQuery, now: Date): HtmlEscapedString {
  const nameless = 'a client without a name'
  const rows = Array.from(single, ([client, cards]) => ({ client, cards, latest: cards[0] }))
  const addressOf = (client: string | null) =>
    listAddress(query, { client: client ?? NAMELESS, show: 'all', order: 'latest' })
  const found = table(rows, [
    [
      'Client',
      'text',
      ({ client, cards }) =>
        html`<a href="${addressOf(client)}">${foreignOr(client, nameless)}</a>${failedWords(cards)}`,
      'name',
    ],
    ['Requests', 'right', ({ cards }) => figure(cards.length)],
    ['Models', 'right', ({ cards }) => figure(new Set(cards.map(({ model }) => model)).size)],
    ['Latest request', 'text', ({ latest }) => latest !== undefined && requestState(latest)],
    ['When', 'right soft', ({ latest }) => latest !== undefined && agoElement(latest.last_seen, now)],
  ])
  return liveSection('single', 'Single requests', rows.length > 0 && found)
}

function failedWords(cards: readonly ConversationCard[]): HtmlEscapedString | false {
  const failed = cards.filter(hasFailed).length
  return (
    failed > 0 && html` <span class="under"><span class="state failed">${figure(failed)} failed</span></span>`
  )
}
