import type { ShownMessage } from '../../activity/conversations/held-content.ts'
import { figure } from './figures.ts'
import { foreign, html, type HtmlEscapedString } from './markup.ts'
import { pinnedWords, readable, treatmentMeanings } from './message-words.ts'

/** What all messages of a list are drawn by. */
export type MessageScale = {
  /** Of the largest message, whose bar is as long as there is room. */
  readonly tokensMax: number
  readonly showsContent: boolean
}

/** A message in a line: who says it, how large it came and was sent, and what became of it; its texts behind that. */
export function messageLine(message: ShownMessage, scale: MessageScale): HtmlEscapedString {
  const line = html`<span class="place">${message.index === null ? '' : figure(message.index)}</span>
    <span class="who"
      >${foreign(message.role)}${message.tool !== null && html` <span class="tool">${foreign(message.tool)}</span>`}${message.pinned !== null && message.pinned !== message.role && html` <span class="pin">${pinnedWords[message.pinned]}</span>`}</span
    >
    <span class="size came"
      >${figure(message.receivedTokens)}<span class="hidden"> tokens came in,</span></span
    >
    ${tokenBar('came', message.receivedTokens, scale)} ${tokenBar('sent', message.sentTokens, scale)}
    <span class="size sent">${figure(message.sentTokens)}<span class="hidden"> were sent:</span></span>
    <span class="treatment">${badge(message)}</span>`
  return scale.showsContent
    ? html`<details class="message">
        <summary class="line">${line}</summary>
        ${texts(message)}
      </details>`
    : html`<div class="message line">${line}</div>`
}

/** A message's share of the largest one, growing away from the middle. */
export function tokenBar(
  side: 'came' | 'sent',
  tokens: number | null,
  { tokensMax }: MessageScale,
): HtmlEscapedString {
  const share = shareOf(tokens, tokensMax)
  return html`<svg class="bar ${side}" width="100%" height="8" aria-hidden="true">
    <rect x="${side === 'came' ? `${100 - share}%` : '0'}" width="${share}%" height="8" />
  </svg>`
}

/** A message's share of the largest one, in percent. */
export function shareOf(tokens: number | null, tokensMax: number): number {
  return Math.round(((tokens ?? 0) / tokensMax) * 1_000) / 10
}

/** A text to scroll through, or that it is gone. */
export function messageText(shown: string | null, name: string): HtmlEscapedString {
  return shown === null
    ? html`<p class="soft">No longer held.</p>`
    : html`<pre tabindex="0" role="region" aria-label="${name}">${readable(shown)}</pre>`
}

/** Tells a message from the others, in an element's id. */
export function messageName(message: ShownMessage | undefined): string {
  if (message === undefined) return ''
  const { index, treatment, standsFor } = message
  return index === null ? `${treatment}-${standsFor?.start ?? 0}-${standsFor?.end ?? 0}` : String(index)
}

// --- internal ---

function badge({ treatment }: ShownMessage): HtmlEscapedString {
  const kind = treatment === 'kept' ? 'plain' : treatment === 'dropped' ? 'warned' : 'treated'
  return html`<span class="badge ${kind}">${treatment}</span>`
}

function texts({ received, sent, treatment }: ShownMessage): HtmlEscapedString {
  if (treatment === 'folded')
    return html`<div class="texts one">${messageText(received, 'what came in')}</div>`
  if (received !== null && received === sent) {
    return html`<div class="texts one">
      <div>
        <p class="caption">came in and was sent</p>
        ${messageText(received, 'the message')}
      </div>
    </div>`
  }
  const isSent = treatment !== 'dropped'
  return html`<div class="texts">
    <div>
      <p class="caption">came in</p>
      ${messageText(received, 'what came in')}
    </div>
    <div>
      <p class="caption">was sent</p>
      ${isSent || sent !== null ? messageText(sent, 'what was sent') : html`<p class="soft">Nothing: ${treatmentMeanings[treatment]}.</p>`}
    </div>
  </div>`
}
