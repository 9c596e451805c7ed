import type { Totals } from '../../activity/conversations/totals.ts'
import { LIST_PRICES_OF } from '../../activity/list-prices.ts'
import { sendAllShortly } from '../send-all.ts'
import { plural, moment, money } from './figures.ts'
import { html, type HtmlEscapedString } from './markup.ts'

export type HeadlineOptions = {
  /** What all requests on record come to; null if there are none. */
  readonly totals: Totals | null
  /** Whether money is by the settings' `prices`; else it is by what makers list, in US dollars. */
  readonly hasPrices: boolean
  /** The base URL that clients are given. */
  readonly clientUrl: string
  /** The API of the latest request that left its conversation at the server; null if none is known. */
  readonly statefulDialect: string | null
}

/** What Foldgate has been good for, in one or two sentences: gains, losses and what is not known alike. */
export function headlineSection(options: HeadlineOptions): HtmlEscapedString {
  const { totals, hasPrices, clientUrl, statefulDialect } = options
  return html`<section id="headline" class="headline" data-live aria-labelledby="headline-title">
    <h1 id="headline-title" class="hidden">What Foldgate has done</h1>
    ${totals === null || totals.requests === 0 ? invitation(clientUrl) : told(totals, hasPrices, statefulDialect)}
  </section>`
}

// --- internal ---

function invitation(clientUrl: string): HtmlEscapedString {
  return html`<p class="statement">Ready for a first request.</p>
    <p>Give a client this base URL; its conversation appears here while it runs.</p>
    <p><code class="address">${clientUrl}</code></p>
    <p class="soft">Most SDKs take it from the environment: <code>OPENAI_BASE_URL=${clientUrl}</code></p>`
}

function told(totals: Totals, hasPrices: boolean, statefulDialect: string | null): HtmlEscapedString {
  const { requests, since, compactions, recoveries } = totals
  const found = notes(totals, statefulDialect)
  const facts = [
    `${plural(requests, 'request')} since ${moment(since)}`,
    plural(compactions, 'compaction'),
    `${plural(recoveries, 'recovery', 'recoveries')} from an overflow`,
    ...(savedMoney(totals) === null
      ? []
      : [
          hasPrices
            ? 'money in the currency of your prices'
            : `list prices of ${LIST_PRICES_OF}; your own under prices in foldgate.yaml`,
        ]),
  ]
  return html`<p class="statement">${fitting(totals)} ${saving(totals, hasPrices)}</p>
    <p class="soft facts">${facts.map((fact) => html`<span>${fact}</span> `)}</p>
    ${found.length > 0 && html`<div class="note">${found.map((note) => html`<p>${note}</p>`)}</div>`}`
}

function fitting(totals: Totals): HtmlEscapedString {
  const { beyond_window: beyond, beyond_unknown: unknown, requests } = totals
  if (beyond > 0) return html`<strong>${plural(beyond, 'request')}</strong> would not have fit.`
  if (unknown === 0) return html`Every request would have fit as it came.`
  return unknown < requests
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
  const inMoney = leftMoney === null ? null : amount(leftMoney, moneyWords(Math.abs(leftMoney), hasPrices))
  const spentTokens = plural(summaryTokens, 'token')
  const spent =
    leftMoney === null || paid === null
      ? spentTokens
      : `${spentTokens} and ${hasPrices ? '' : '$'}${money(paid)}`
  const netOf = summaryTokens === 0 ? '' : `, net of ${spent} for summaries`
  const included = summaryTokens === 0 ? '' : `, ${spent} for summaries included`
  if (leftTokens >= 0) {
    if (leftMoney === null) return html`${tokens} saved${netOf}.`
    if (leftMoney < 0) return html`${tokens} saved${netOf}, but that cost ${inMoney} more than it saved.`
    return html`${tokens} and ${inMoney} saved${netOf}.`
  }
  if (leftMoney === null) return html`It cost ${tokens} more than it saved${included}.`
  if (leftMoney >= 0) return html`It cost ${tokens} more than it saved${included}, but saved ${inMoney}.`
  return html`It cost ${tokens} and ${inMoney} more than it saved${included}.`
}

function moneyWords(value: number, hasPrices: boolean): string {
  return hasPrices ? `${money(value)} in money` : `about $${money(value)} at list prices`
}

function amount(value: number, words: string): HtmlEscapedString {
  return value < 0 ? html`<strong class="loss">${words}</strong>` : html`<strong>${words}</strong>`
}

/** What is left out of the sums, or went by unread, and what to do about it. */
function notes(totals: Totals, statefulDialect: string | null): readonly HtmlEscapedString[] {
  const { unknown_requests: requests, unknown_summaries: summaries } = totals
  const found: HtmlEscapedString[] = []
  const hasMoney =
    totals.priced_requests > 0 && (totals.summary_tokens === 0 || summaryMoney(totals) !== null)
  if (hasMoney && (requests > 0 || summaries > 0)) {
    const leftOut = [
      ...(requests > 0 ? [plural(requests, 'changed request')] : []),
      ...(summaries > 0 ? [plural(summaries, 'summary', 'summaries')] : []),
    ].join(' and ')
    found.push(
      html`${leftOut} are not counted in money: the model has no price, or the provider stated no usage. Add
        the model to <code>prices</code> in <code>foldgate.yaml</code>.`,
    )
  }
  if (totals.observed_tokens > 0) {
    found.push(
      html`Profiles that only observe would have left out ${plural(totals.observed_tokens, 'token')}: take
        <code>observe</code> out of them, and they do.`,
    )
  }
  if (totals.stateful_requests > 0) {
    const their = totals.stateful_requests === 1 ? 'its' : 'their'
    found.push(
      html`${plural(totals.stateful_requests, 'request')} left ${their} conversation at the server, and went
      on unread: ${sendAllShortly(statefulDialect)}.`,
    )
  }
  if (totals.native_requests > 0) {
    const their = totals.native_requests === 1 ? 'its' : 'their'
    found.push(
      html`${plural(totals.native_requests, 'request')} had the server compact ${their} conversation
      (<code>reason=native</code>), and went on unread.`,
    )
  }
  if (totals.beyond_unknown > 0) {
    found.push(
      html`Of ${plural(totals.beyond_unknown, 'request')} it is not known whether they would have fit: their
      size or their window was not known.`,
    )
  }
  return found
}
