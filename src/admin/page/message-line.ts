import type { ShownMessage } from '../../activity/conversations/held-content.ts'
import type { EntryName } from '../../dialects/contract.ts'
import { figure } from './figures.ts'
import { foreign, html, type HtmlEscapedString } from './markup.ts'
import { pinnedWords, treatmentMeanings, unescaped, withoutOpaque } from './message-words.ts'

/** What all messages of a list are drawn by. */
export type MessageScale = {
  /** Of the largest message, whose bar is as long as there is room. */
  readonly tokensMax: number
  /** What each is called in the API that the conversation came by. */
  readonly entryName: EntryName
  readonly showsContent: boolean
}

/** A message in a line: its role or kind, how large it came and was sent, and what became of it; its texts behind that. */
export function messageLine(message: ShownMessage, scale: MessageScale): HtmlEscapedString {
  const { index, role, kind, tool, pinned, receivedTokens, sentTokens, treatment } = message
  const mark = treatment === 'kept' ? 'plain' : treatment === 'dropped' ? 'warned' : 'treated'
  const line = html`<span class="place">${index === null ? '' : figure(index)}</span>
    <span class="who"
      >${foreign(kind ?? role)}${tool !== null && html` <span class="tool">${foreign(tool)}</span>`}${pinned !== null && pinned !== role && html` <span class="pin">${pinnedWords[pinned]}</span>`}</span
    >
    <span class="size came">${figure(receivedTokens)}<span class="hidden"> tokens came in,</span></span>
    ${tokenBar('came', receivedTokens, scale)} ${tokenBar('sent', sentTokens, scale)}
    <span class="size sent">${figure(sentTokens)}<span class="hidden"> were sent:</span></span>
    <span class="treatment"><span class="badge ${mark}">${treatment}</span></span>`
  const li = `message-${messageName(message)}`
  return scale.showsContent
    ? html`<li id="${li}">
        <details class="message">
          <summary class="line">${line}</summary>
          ${texts(message)}
        </details>
      </li>`
    : html`<li id="${li}"><div class="message line">${line}</div></li>`
}

/** A message's share of the largest one, growing away from the middle. */
export function tokenBar(
  side: 'came' | 'sent',
  tokens: number | null,
  { tokensMax }: MessageScale,
): HtmlEscapedString {
  const share = Math.round(((tokens ?? 0) / tokensMax) * 1_000) / 10
  return html`<svg class="bar ${side}" width="100%" height="8" aria-hidden="true">
    <rect x="${side === 'came' ? `${100 - share}%` : '0'}" width="${share}%" height="8" />
  </svg>`
}

/** A text to scroll through, or that it is gone. */
export function messageText(shown: string | null, name: string): HtmlEscapedString {
  return shown === null
    ? html`<p class="soft">No longer held.</p>`
    : html`<pre tabindex="0" role="region" aria-label="${name}">${unescaped(shown)}</pre>`
}

/** Tells a message from the others, in an element's id. */
export function messageName(message: ShownMessage | undefined): string {
  if (message === undefined) return ''
  const { index, treatment, standsFor } = message
  return index === null ? `${treatment}-${standsFor?.start ?? 0}-${standsFor?.end ?? 0}` : String(index)
}

// --- internal ---

function texts(message: ShownMessage): HtmlEscapedString {
  const { kind, treatment } = message
  const shown = (json: string | null) => (json === null || kind === null ? json : withoutOpaque(json))
  const [received, sent] = [shown(message.received), shown(message.sent)]
  const came = part('came in', messageText(received, 'what came in'))
  if (treatment === 'folded') return html`<div class="texts one">${came}</div>`
  if (received !== null && received === sent) {
    const same = part('came in and was sent', messageText(received, 'the message'))
    return html`<div class="texts one">${same}</div>`
  }
  const left =
    (treatment === 'dropped' || treatment === 'outdated') && sent === null
      ? html`<p class="soft">Nothing: ${treatmentMeanings[treatment]}.</p>`
      : messageText(sent, 'what was sent')
  return html`<div class="texts">${came}${part('was sent', left)}</div>`
}

function part(caption: string, shown: HtmlEscapedString): HtmlEscapedString {
  return html`<div>
    <p class="caption">${caption}</p>
    ${shown}
  </div>`
}
