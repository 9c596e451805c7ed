import type { ConversationCard } from '../../telemetry/conversations/conversation-list.ts'
import type { StoredEvent } from '../../telemetry/journal/journal.ts'
import type { ModelCard } from '../model-cards.ts'
import type { Totals, UnreadCard } from '../../telemetry/conversations/totals.ts'
import { conversationList, type ConversationQuery } from './conversation-list.ts'
import { clientName, conversationName, requestState } from './conversation-table.ts'
import { eventTable } from './event-table.ts'
import { layout, type PageSetting } from './page-frame.ts'
import {
  agoElement,
  figure,
  foreign,
  foreignOr,
  html,
  type HtmlEscapedString,
  liveSection,
  moment,
  money,
  plural,
  table,
} from './markup.ts'
import { LIST_PRICES_OF } from '../../telemetry/costs.ts'
import { sendAllShortly, windowWords } from '../told-words.ts'

export type HomePageOptions = PageSetting &
  HeadlineOptions & {
    readonly conversations: readonly ConversationCard[]
    /** Which of them are asked for. */
    readonly query: ConversationQuery
    /** The one used last first. */
    readonly models: readonly ModelCard[]
    /** The latest of all conversations, the newest first. */
    readonly events: readonly StoredEvent[]
  }

/** The page at `/`: what Foldgate has been good for, the conversations, what is believed of models, and what happened last. */
export function homePage(options: HomePageOptions): HtmlEscapedString {
  const { totals, conversations, query, unread, models, events, now } = options
  const names = new Map(conversations.map((card) => [card.id, conversationName(card)]))
  return layout({
    ...options,
    title: 'Foldgate',
    conversation: null,
    main: html`${headlineSection(options)} ${conversationList(conversations, query, now)}
    ${unreadTable(unread, now)} ${modelTable(models, now)}
    ${eventTable({ events, now, names, hadEvents: (totals?.compactions ?? 0) > 0 })}`,
  })
}

/**
 * @internal exported for tests. What Foldgate has been good for, in one or two sentences: gains, losses and what is not known
 * alike.
 */
export function headlineSection(options: HeadlineOptions): HtmlEscapedString {
  const { totals, clientUrl } = options
  return html`<section id="headline" class="headline" data-live aria-labelledby="headline-title">
    <h1 id="headline-title" class="hidden">What Foldgate has done</h1>
    ${totals === null || totals.requests === 0 ? invitation(clientUrl) : told(totals, options)}
  </section>`
}

// --- internal ---

type HeadlineOptions = Pick<PageSetting, 'status'> & {
  /** What all requests on record come to; null if there are none. */
  readonly totals: Totals | null
  /** Whether money is by the settings' `prices`; else it is by what makers list, in US dollars. */
  readonly hasPrices: boolean
  /** The base URL that clients are given. */
  readonly clientUrl: string
  /** Requests that are part of no conversation, by their kind, the latest first. */
  readonly unread: readonly UnreadCard[]
}

function invitation(clientUrl: string): HtmlEscapedString {
  return html`<p class="statement">Ready for a first request.</p>
    <p>Give a client this base URL; its conversation appears here while it runs.</p>
    <p><code class="address">${clientUrl}</code></p>
    <p class="soft">Most SDKs take it from the environment: <code>OPENAI_BASE_URL=${clientUrl}</code></p>`
}

function told(totals: Totals, { hasPrices, unread, status }: HeadlineOptions): HtmlEscapedString {
  const { requests, since, compactions, recoveries, failed } = totals
  // While something fails, that is what is told first; what lies behind it stands above, and so does what only could be better.
  const failing = status.troubles.find(({ kind }) => kind !== 'window' && kind !== 'compaction')
  const [trouble] = failing?.what.split(/: |, |,$/) ?? []
  const found = notes(totals, unread)
  const facts = [
    `${plural(requests, 'request')} since ${moment(since)}`,
    ...(failed === 0 ? [] : [`${figure(failed)} failed`]),
    plural(compactions, 'compaction'),
    `${plural(recoveries, 'recovery', 'recoveries')} from an overflow`,
  ]
  if (savedMoney(totals) !== null)
    facts.push(
      hasPrices
        ? 'money in the currency of your prices'
        : `list prices of ${LIST_PRICES_OF}; your own under prices in foldgate.yaml`,
    )
  const good = html`${fitting(totals)} ${saving(totals, hasPrices)}`
  return html`<p class="statement">
      ${trouble === undefined ? good : html`<strong class="bad">${foreign(trouble.replace(/^./, (first) => first.toUpperCase()))}</strong>.`}
    </p>
    ${trouble !== undefined && html`<p class="soft">${good}</p>`}
    <p class="soft facts">
      ${facts.map((fact) => html`<span>${fact}</span> `)}
      <span><a href="/savings">by day, client, model and profile</a></span>
    </p>
    ${found.length > 0 && html`<div class="note">${found.map((note) => html`<p>${note}</p>`)}</div>`}`
}

function fitting(totals: Totals): HtmlEscapedString {
  const { beyond_window: beyond, beyond_unknown: unknown, requests, failed } = totals
  if (failed === requests) return html`No request was answered.`
  if (beyond > 0) return html`<strong>${plural(beyond, 'request')}</strong> would not have fit.`
  if (unknown === 0) return html`Every ${failed > 0 && 'answered'} request would have fit as it came.`
  return unknown < requests - failed
    ? html`No request is known that would not have fit.`
    : html`Whether every request would have fit is not known.`
}

/** Null if there were some and none of them has a price. */
function savedMoney(totals: Totals): number | null {
  return totals.priced_requests === 0 && totals.unknown_requests > 0 ? null : totals.saved_money
}

function summaryMoney(totals: Totals): number | null {
  return totals.priced_summaries === 0 && totals.unknown_summaries > 0 ? null : totals.summary_money
}

/** What is left when summaries are paid. Of money nothing is said if either is not known. */
function saving(totals: Totals, hasPrices: boolean): HtmlEscapedString {
  const { saved_tokens: savedTokens, summary_tokens: summaryTokens } = totals
  if (savedTokens === 0 && summaryTokens === 0) return html`Nothing was saved or spent so far.`
  const saved = savedMoney(totals)
  const paid = summaryMoney(totals) ?? (summaryTokens === 0 ? 0 : null)
  const leftTokens = savedTokens - summaryTokens
  const leftMoney = saved === null || paid === null ? null : saved - paid
  const tokens = amount(leftTokens, plural(Math.abs(leftTokens), 'token'))
  const left = money(Math.abs(leftMoney ?? 0))
  const leftWords = hasPrices ? `${left} in money` : `about $${left} at list prices`
  const inMoney = leftMoney === null ? null : amount(leftMoney, leftWords)
  const spentTokens = plural(summaryTokens, 'token')
  const spent =
    leftMoney === null || paid === null
      ? spentTokens
      : `${spentTokens} and ${hasPrices ? '' : '$'}${money(paid)}`
  const netOf = summaryTokens === 0 ? '' : `, net of ${spent} for summaries`
  const included = summaryTokens === 0 ? '' : `, ${spent} for summaries included`
  // Tokens and money are told together where both were gained, or both were lost.
  const isGain = leftTokens >= 0
  const isAlike = leftMoney !== null && isGain === leftMoney >= 0
  const both = isAlike ? html`${tokens} and ${inMoney}` : tokens
  const isOther = leftMoney !== null && !isAlike
  return isGain
    ? html`${both} saved${netOf}${isOther && html`, but that cost ${inMoney} more than it saved`}.`
    : html`It cost ${both} more than it saved${included}${isOther && html`, but saved ${inMoney}`}.`
}

function amount(value: number, words: string): HtmlEscapedString {
  return value < 0 ? html`<strong class="loss">${words}</strong>` : html`<strong>${words}</strong>`
}

/** What is left out of the sums, or went by unread, and what to do about it. */
function notes(totals: Totals, unread: readonly UnreadCard[]): readonly HtmlEscapedString[] {
  const { unknown_requests: requests, unknown_summaries: summaries } = totals
  const hasMoney =
    totals.priced_requests > 0 && (totals.summary_tokens === 0 || summaryMoney(totals) !== null)
  const unpriced = [
    requests > 0 && plural(requests, 'changed request'),
    summaries > 0 && plural(summaries, 'summary', 'summaries'),
  ].filter((words) => words !== false)
  const { stateful_requests: stateful, native_requests: native } = totals
  const latest = unread.find(({ action, reason }) => action === 'relayed' && reason === 'stateful')
  const found = [
    hasMoney &&
      unpriced.length > 0 &&
      html`Not counted in money: ${unpriced.join(' and ')}, since the model has no price, or the provider
        stated no usage. Add the model to <code>prices</code> in <code>foldgate.yaml</code>.`,
    totals.observed_tokens > 0 &&
      html`Profiles that only observe would have left out ${plural(totals.observed_tokens, 'token')}: take
        <code>observe</code> out of them, and they do.`,
    stateful > 0 &&
      html`${plural(stateful, 'request')} left ${their(stateful)} conversation at the server, and went on
      unread: ${sendAllShortly(latest?.dialect ?? null)}.`,
    native > 0 &&
      html`${plural(native, 'request')} had the server compact ${their(native)} conversation
      (<code>reason=native</code>), and went on unread.`,
    totals.beyond_unknown > 0 &&
      html`Of ${plural(totals.beyond_unknown, 'request')} it is not known whether they would have fit: their
      size or their window was not known.`,
  ]
  return found.filter((note) => note !== false)
}

function their(count: number): string {
  return count === 1 ? 'its' : 'their'
}

/** Requests that are part of no conversation: who sent them, what became of them and what would change that. Nothing if there are none. */
function unreadTable(cards: readonly UnreadCard[], now: Date): HtmlEscapedString {
  const found = table(cards, [
    ['Client', 'text', ({ client }) => foreignOr(clientName(client), 'a client without a name'), 'name'],
    [
      'API',
      '',
      ({ path, dialect }) =>
        path === null ? foreign((dialect ?? '').replaceAll('-', ' ')) : html`<code>${path}</code>`,
    ],
    ['What became of it', 'text', requestState],
    ['Requests', 'right', ({ requests }) => figure(requests)],
    ['When', 'right soft', (card) => agoElement(card.last_seen, now)],
  ])
  return liveSection('unread', 'Requests outside of conversations', cards.length > 0 && found)
}

/** What is believed of the models in use, the one used last first, each with a button that has it forgotten. */
function modelTable(models: readonly ModelCard[], now: Date): HtmlEscapedString {
  return html`<section aria-labelledby="models-title">
    <h2 id="models-title">Models</h2>
    <div id="models" data-live tabindex="-1" aria-labelledby="models-title" role="group">
      ${models.length === 0 ? html`<p class="soft">Nothing is believed of any model yet.</p>` : modelRows(models, now)}
    </div>
    <p id="said" role="status" aria-live="polite"></p>
  </section>`
}

const MODELS_SHOWN = 20

function modelRows(models: readonly ModelCard[], now: Date): HtmlEscapedString {
  const left = models.length - MODELS_SHOWN
  const rows = table(
    models.slice(0, MODELS_SHOWN),
    [
      ['Model', 'text', modelCell, 'name'],
      ['Window', 'text', windowCell],
      ['Ratio', 'right', ({ fields }) => ratioCell(fields.ratio)],
      ['Refuses', 'text', ({ fields }) => refusedWords(fields).join(', ')],
      ['Since', 'right soft', (card) => sinceCell(card, now)],
      [html`<span class="hidden">What can be done</span>`, 'right', forgetButton],
    ],
    ({ id }) => `model-${id}`,
  )
  return html`${rows}
  ${left > 0 && html`<p class="soft">And ${figure(left)} more: <code>GET /models</code> lists them all.</p>`}`
}

function modelCell({ model, upstream, credential }: ModelCard): HtmlEscapedString {
  return html`${foreignOr(model === '' ? null : model, 'no model named')}
    <span class="under"><span>${foreign(upstream)}</span> <span>credential ${credential}</span></span>`
}

function forgetButton({ id, model }: ModelCard): HtmlEscapedString {
  return html`<button
    type="button"
    aria-label="Forget what is believed of ${model}"
    data-method="DELETE"
    data-path="/models/${encodeURIComponent(id)}"
    data-done="Forgotten. The next answers teach it anew."
  >
    Forget
  </button>`
}

function windowCell({ window_in_force: window, fields }: ModelCard): HtmlEscapedString | string {
  if (window === null) return 'not known before its next request'
  const taughtBy = fields.window?.from
  const isLoaded = fields.stated?.value.is_loaded
  return html`${plural(window.tokens, 'token')}
    <span class="under"><span>${windowWords({ ...window, taughtBy, isLoaded })}</span></span>`
}

function ratioCell(ratio: ModelCard['fields']['ratio']): HtmlEscapedString | string {
  if (ratio === undefined) return ''
  const { ratio: value, own_tokens: ownTokens } = ratio.value
  return html`${value.toFixed(2)} <span class="under">over ${plural(ownTokens, 'token')}</span>`
}

/** What requests to this model are kept from, since it was refused. */
function refusedWords({ refuses, placement, thoughts }: ModelCard['fields']): readonly string[] {
  const values = [refuses?.usage?.value, refuses?.recall?.value, placement?.value, thoughts?.value]
  const words = values.map((value) => (value === undefined ? undefined : refusals[value]))
  return words.filter((each) => each !== undefined)
}

/** By the values of `usage`, `recall`, `placement` and `thoughts`; usage that is `stated` unasked is refused by nobody. */
const refusals: Readonly<Record<string, string>> = {
  named: 'usage in streams',
  guessed: 'usage in streams, perhaps',
  plain: 'recall',
  'with-schema': 'recall beside a schema',
  any: 'recall',
  strict: 'user messages in a row',
  original: 'whatever is rewritten',
  kept: 'replies without their thoughts',
  'newest-kept': 'the newest reply without its thoughts',
  bound: 'thoughts behind another conversation',
}

/** Since when the window in force is believed; settings and tables have no time. */
function sinceCell({ window_in_force: window, fields }: ModelCard, now: Date): HtmlEscapedString | string {
  const belief =
    window?.source === 'learnt' ? fields.window : window?.source === 'server' ? fields.stated : undefined
  return belief === undefined ? '' : agoElement(belief.since, now)
}
