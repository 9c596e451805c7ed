import type { Headline } from '../../activity/conversations/conversation-cards.ts'
import { counted, moment, money } from './figures.ts'
import { html, type HtmlEscapedString } from './markup.ts'

export type HeadlineOptions = {
  readonly headline: Headline
  /** Whether `prices` has any. */
  readonly hasPrices: boolean
  /** The base URL that clients are given. */
  readonly clientUrl: string
}

/** What Foldgate has been good for, in one or two sentences: gains, losses and what is not known alike. */
export function headlineSection({ headline, hasPrices, clientUrl }: HeadlineOptions): HtmlEscapedString {
  return html`<section id="headline" class="headline" data-live aria-labelledby="headline-title">
    <h1 id="headline-title" class="hidden">What Foldgate has done</h1>
    ${headline.requests === 0 ? invitation(clientUrl) : told(headline, hasPrices)}
  </section>`
}

// --- internal ---

function invitation(clientUrl: string): HtmlEscapedString {
  return html`<p class="statement">Ready for a first request.</p>
    <p>Give a client this base URL; its conversation appears here while it runs.</p>
    <p><code class="address">${clientUrl}</code></p>
    <p class="soft">Most SDKs take it from the environment: <code>OPENAI_BASE_URL=${clientUrl}</code></p>`
}

function told(headline: Headline, hasPrices: boolean): HtmlEscapedString {
  const { requests, since, compactions, recoveries, savedMoney } = headline
  const found = notes(headline, hasPrices)
  const facts = [
    since === null ? counted(requests, 'request') : `${counted(requests, 'request')} since ${moment(since)}`,
    counted(compactions, 'compaction'),
    `${recoveries === 1 ? '1 recovery' : `${recoveries.toLocaleString('en-US')} recoveries`} from an overflow`,
    ...(savedMoney === null ? [] : ['money in the currency of your prices']),
  ]
  return html`<p class="statement">${fitting(headline)} ${saving(headline)}</p>
    <p class="soft facts">${facts.map((fact) => html`<span>${fact}</span> `)}</p>
    ${found.length > 0 && html`<div class="note">${found.map((note) => html`<p>${note}</p>`)}</div>`}`
}

function fitting({ beyondWindow, beyondUnknown, requests }: Headline): HtmlEscapedString {
  if (beyondWindow > 0) return html`<strong>${counted(beyondWindow, 'request')}</strong> would not have fit.`
  if (beyondUnknown === 0) return html`Every request would have fit as it came.`
  return beyondUnknown < requests
    ? html`No request is known that would not have fit.`
    : html`Whether every request would have fit is not known.`
}

/** Tokens and money that are left when summaries are paid; money is null where either is not known. */
function net({ savedTokens, summaryTokens, savedMoney, summaryMoney }: Headline) {
  const paid = summaryTokens === 0 ? (summaryMoney ?? 0) : summaryMoney
  return {
    tokens: savedTokens - summaryTokens,
    money: savedMoney === null || paid === null ? null : savedMoney - paid,
  }
}

function saving(headline: Headline): HtmlEscapedString {
  if (headline.savedTokens === 0 && headline.summaryTokens === 0)
    return html`Nothing was saved or spent so far.`
  const left = net(headline)
  const tokens = amount(left.tokens, counted(Math.abs(left.tokens), 'token'))
  const inMoney = left.money === null ? null : amount(left.money, `${money(Math.abs(left.money))} in money`)
  const spent = spentOnSummaries(headline)
  const gain = html`${tokens} saved${spent !== null && `, net of ${spent} for summaries`}`
  const included = spent === null ? '' : `, ${spent} for summaries included`
  const isUnknown = 'What that is in money is not known.'
  if (left.tokens >= 0) {
    if (left.money === null) return html`${gain}. ${isUnknown}`
    if (left.money < 0) return html`${gain}, but that cost ${inMoney} more than it saved.`
    return html`${tokens} and ${inMoney} saved${spent !== null && `, net of ${spent} for summaries`}.`
  }
  if (left.money === null) return html`It cost ${tokens} more than it saved${included}. ${isUnknown}`
  if (left.money >= 0) return html`It cost ${tokens} more than it saved${included}, but saved ${inMoney}.`
  return html`It cost ${tokens} and ${inMoney} more than it saved${included}.`
}

function amount(value: number, words: string): HtmlEscapedString {
  return value < 0 ? html`<strong class="loss">${words}</strong>` : html`<strong>${words}</strong>`
}

function spentOnSummaries({ summaryTokens, summaryMoney }: Headline): string | null {
  if (summaryTokens === 0) return null
  const tokens = counted(summaryTokens, 'token')
  return summaryMoney === null ? tokens : `${tokens} and ${money(summaryMoney)}`
}

/** Why something is not known and what to do about it. */
function notes(headline: Headline, hasPrices: boolean): readonly HtmlEscapedString[] {
  const { beyondUnknown, unknownRequests, unknownSummaries, savedMoney, savedTokens, summaryTokens } =
    headline
  const { observedTokens } = headline
  const found: HtmlEscapedString[] = []
  const hasChanged = savedTokens !== 0 || summaryTokens !== 0
  if (hasChanged && !hasPrices) {
    found.push(
      html`No prices are set, so money is not known. Set <code>prices</code> in <code>foldgate.yaml</code>.`,
    )
  } else if (unknownRequests > 0 || unknownSummaries > 0) {
    found.push(
      html`${leftOut(unknownRequests, unknownSummaries)} ${savedMoney === null ? 'cannot be' : 'are not'}
        counted in money: the model has no price, or the provider stated no usage. Add the model to
        <code>prices</code> in <code>foldgate.yaml</code>.`,
    )
  } else if (hasChanged && savedMoney === null) {
    found.push(html`No changed request has a price and a stated usage yet, so money is not known.`)
  }
  if (observedTokens > 0) {
    found.push(
      html`Profiles that only observe would have left out ${counted(observedTokens, 'token')}: take
        <code>observe</code> out of them, and they do.`,
    )
  }
  if (beyondUnknown > 0) {
    found.push(
      html`Of ${counted(beyondUnknown, 'request')} it is not known whether they would have fit: their size or
      their window was not known.`,
    )
  }
  return found
}

function leftOut(requests: number, summaries: number): string {
  const parts: string[] = []
  if (requests > 0) parts.push(counted(requests, 'changed request'))
  if (summaries > 0)
    parts.push(summaries === 1 ? '1 summary' : `${summaries.toLocaleString('en-US')} summaries`)
  return parts.join(' and ')
}
