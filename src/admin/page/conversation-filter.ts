import { type ConversationCard, inOrder } from '../../telemetry/conversations/conversation-list.ts'
import { hasFailed } from '../told-words.ts'
import { clientName, conversationName, type ConversationTree, treesOf } from './conversation-table.ts'
import { html, type HtmlEscapedString } from './markup.ts'

/** By which clients without a name are asked for. */
export const NAMELESS = '-'

/** What of the list of conversations is asked for: the query of the page's address. */
export type ConversationQuery = Readonly<Record<string, string | undefined>>

export type FoundConversations = {
  /** Those of one page, in the order that was asked for. */
  readonly trees: readonly ConversationTree[]
  /** Conversations of a single request that changed nothing, by their client's name; empty if somebody asks for them one by one. */
  readonly single: ReadonlyMap<string | null, readonly ConversationCard[]>
  readonly count: number
  /** From 1 on. */
  readonly page: number
  readonly pages: number
}

/** The conversations that a query asks for. What it says that means nothing is passed over. */
export function findConversations(
  cards: readonly ConversationCard[],
  query: ConversationQuery,
  now: Date,
): FoundConversations {
  const isWanted = wantedBy(query, now)
  const wanted = treesOf(cards).filter((tree) => [tree.root, ...tree.branches].some((card) => isWanted(card)))
  const showsSingle = query['show'] === 'all'
  const trees = showsSingle ? wanted : wanted.filter((tree) => !isSingle(tree))
  const ordered =
    query['order'] === 'latest' ? trees : trees.toSorted((one, other) => rankOf(one) - rankOf(other))
  const pages = Math.max(1, Math.ceil(ordered.length / PAGE_TREES))
  const page = Math.min(pages, Math.max(1, Math.floor(Number(query['page'] ?? 1)) || 1))
  return {
    trees: ordered.slice((page - 1) * PAGE_TREES, page * PAGE_TREES),
    single: Map.groupBy(showsSingle ? [] : wanted.filter(isSingle).map(({ root }) => root), ({ client }) =>
      clientName(client),
    ),
    count: ordered.length,
    page,
    pages,
  }
}

/** The address of the page with this query changed in some places. */
export function listAddress(query: ConversationQuery, changes: ConversationQuery): string {
  const given = new URLSearchParams()
  for (const [name, value] of Object.entries({ ...query, page: undefined, ...changes }))
    if (value) given.set(name, value)
  return given.size === 0 ? '/' : `/?${given.toString()}`
}

/** The form in which the list is searched: it stands outside of what is renewed, so that nobody is disturbed who types. */
export function conversationForm(
  cards: readonly ConversationCard[],
  query: ConversationQuery,
): HtmlEscapedString {
  const select = (
    name: string,
    label: string,
    options: readonly (readonly [value: string, words: string])[],
  ) =>
    html`<label
      >${label}
      <select name="${name}">
        ${options.map(([value, words]) => html`<option value="${value}" ${value === (query[name] ?? '') && html`selected`}>${words}</option>`)}
      </select></label
    >`
  const named = (nameOf: (card: ConversationCard) => string | null) => {
    const names = new Set(cards.flatMap((card) => nameOf(card) ?? []))
    names.delete('')
    return [...names].toSorted(inOrder).map((name) => [name, name] as const)
  }
  return html`<form class="filter" method="get" action="/" role="search" aria-label="Conversations">
    <label
      >Search <input type="search" name="q" value="${query['q'] ?? ''}" maxlength="${SEARCH_CHARS_MAX}"
    /></label>
    ${select('client', 'Client', [all, ...named(({ client }) => clientName(client))])}
    ${select('model', 'Model', [all, ...named(({ model }) => model)])}
    ${select('profile', 'Profile', [all, ...named(({ profile }) => profile)])}
    ${select('action', 'Latest', [all, ['failed', 'failed'], ...named(({ action }) => action)])}
    ${select(
      'since',
      'Time',
      times.map(([value, words]) => [value, words] as const),
    )}
    ${select('order', 'Order', [
      ['', 'compacted first'],
      ['latest', 'latest first'],
    ])}
    ${query['show'] === 'all' && html`<input type="hidden" name="show" value="all" />`}
    <button type="submit">Show</button>
    ${Object.keys(query).length > 0 && html`<a href="/">all</a>`}
  </form>`
}

// --- internal ---

const all = ['', 'all'] as const

const PAGE_TREES = 50

const HOUR_MS = 3_600_000

const times = [
  ['', 'any', Infinity],
  ['1h', 'last hour', HOUR_MS],
  ['1d', 'last day', 24 * HOUR_MS],
  ['7d', 'last week', 168 * HOUR_MS],
] as const

/** A request that came alone and went on as it came: a hundred of them say no more than how many they are. */
function isSingle({ root, branches }: ConversationTree): boolean {
  return (
    branches.length === 0 &&
    root.requests <= 1 &&
    root.compactions === 0 &&
    !root.answering &&
    root.label === null
  )
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
