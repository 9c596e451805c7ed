import type { ConversationDetail } from '../../activity/conversations/conversations.ts'
import type { ShownMessage } from '../../activity/conversations/held-content.ts'
import { counted, figure } from './figures.ts'
import { html, type HtmlEscapedString } from './markup.ts'
import {
  messageLine,
  messageName,
  messageText,
  shareOf,
  tokenBar,
  type MessageScale,
} from './message-line.ts'
import { messageRuns, type MessageRun } from './message-runs.ts'
import { treatmentMeanings } from './message-words.ts'

/** Side by side what came in with the latest request and what was sent, message by message. */
export function messageList({
  messages,
  shows_content: showsContent,
}: Pick<ConversationDetail, 'messages' | 'shows_content'>): HtmlEscapedString {
  return html`<section id="messages" data-live aria-labelledby="messages-title">
    <h2 id="messages-title">Messages of the latest request</h2>
    ${
      messages === null
        ? html`<p class="soft">
            They are no longer held. Messages are kept in memory only, for a while, by the process that had
            the request; the next request of this conversation brings them back.
          </p>`
        : sideBySide(messages, showsContent)
    }
  </section>`
}

// --- internal ---

/** In pixels. */
const sedimentHeightMax = 200

function sideBySide(messages: readonly ShownMessage[], showsContent: boolean): HtmlEscapedString {
  const tokensMax = Math.max(
    1,
    ...messages.map((message) => Math.max(message.receivedTokens ?? 0, message.sentTokens ?? 0)),
  )
  const scale = { tokensMax, showsContent }
  return html`<p class="soft">${balance(messages)}</p>
    ${!showsContent && html`<p class="note">Texts are not shown: <code>admin.show_content</code> is off in <code>foldgate.yaml</code>.</p>`}
    <div class="heads" aria-hidden="true"><span>came in</span><span>was sent</span></div>
    <ol class="exchange">
      ${messageRuns(messages).map((run) => shownRun(run, scale))}
    </ol>
    ${meanings(messages)}`
}

/** What came, what was sent, and how much of it was treated in which way. */
function balance(messages: readonly ShownMessage[]): string {
  const came = messages.filter((message) => message.index !== null)
  const sent = messages.filter((message) => !isLeftOut(message))
  const treated = new Map<string, number>()
  for (const { treatment } of messages) treated.set(treatment, (treated.get(treatment) ?? 0) + 1)
  const parts = [...treated].map(([treatment, count]) => `${figure(count)} ${treatment}`)
  return `${counted(came.length, 'message')} with ${total(came, 'receivedTokens')} came in, ${figure(sent.length)} with ${total(sent, 'sentTokens')} were sent: ${parts.join(', ')}.`
}

function isLeftOut({ treatment }: ShownMessage): boolean {
  return treatment === 'folded' || treatment === 'dropped' || treatment === 'joined'
}

function total(messages: readonly ShownMessage[], side: 'receivedTokens' | 'sentTokens'): string {
  const counts = messages.map((message) => message[side])
  if (counts.every((count) => count === null)) return 'tokens that were not counted'
  return counted(
    counts.reduce<number>((sum, count) => sum + (count ?? 0), 0),
    'token',
  )
}

function shownRun(run: MessageRun, scale: MessageScale): HtmlEscapedString {
  switch (run.kind) {
    case 'single':
      return html`<li id="message-${messageName(run.message)}">${messageLine(run.message, scale)}</li>`
    case 'kept':
      return html`<li id="kept-${messageName(run.messages[0])}">
        <details class="stretch">
          <summary>
            <span class="place">${span(run.messages)}</span>
            <span>${counted(run.messages.length, 'message')} kept</span>
            <span class="size">${total(run.messages, 'receivedTokens')}</span>
          </summary>
          <ol>
            ${run.messages.map((message) => html`<li id="message-${messageName(message)}">${messageLine(message, scale)}</li>`)}
          </ol>
        </details>
      </li>`
    case 'folded':
      return folded(run.standIn, run.messages, scale)
  }
}

function folded(
  standIn: ShownMessage,
  messages: readonly ShownMessage[],
  scale: MessageScale,
): HtmlEscapedString {
  const { treatment, sentTokens, sent } = standIn
  return html`<li id="fold-${messageName(standIn)}" class="fold-pair">
    <div class="folded">
      ${
        messages.length === 0
          ? html`<p class="soft">What it stands for came with an earlier request.</p>`
          : html`<details>
                <summary>
                  <span class="place">${span(messages)}</span>
                  <span>${counted(messages.length, 'message')} folded</span>
                  <span class="size">${total(messages, 'receivedTokens')}</span>
                </summary>
                <ol>
                  ${messages.map((message) => html`<li id="message-${messageName(message)}">${messageLine(message, scale)}</li>`)}
                </ol>
              </details>
              ${sediment(messages, scale)}`
      }
    </div>
    <div class="stand-in">
      <p>
        <span class="badge made">${treatment}</span> <span class="place">for ${placesOf(standIn)}</span>
        <span class="size">${sentTokens === null ? null : counted(sentTokens, 'token')}</span>
      </p>
      ${tokenBar('sent', sentTokens, scale)} ${scale.showsContent && messageText(sent, 'its text')}
    </div>
  </li>`
}

/** Everything that was folded as thin layers, each as long as its message is large. */
function sediment(messages: readonly ShownMessage[], { tokensMax }: MessageScale): HtmlEscapedString {
  const pitch = Math.min(4, sedimentHeightMax / messages.length)
  const layers = messages.map(({ receivedTokens }, at) => {
    const share = shareOf(receivedTokens, tokensMax)
    return html`<rect
      x="${100 - share}%"
      y="${tenths(at * pitch)}"
      width="${share}%"
      height="${tenths(pitch * 0.75)}"
    />`
  })
  return html`<svg
    class="sediment"
    width="100%"
    height="${tenths(messages.length * pitch)}"
    aria-hidden="true"
  >
    ${layers}
  </svg>`
}

/** `3–98`, counted from 0 as errors of providers do. */
function span(messages: readonly ShownMessage[]): string {
  const [first, last] = [messages[0]?.index ?? null, messages.at(-1)?.index ?? null]
  return first === last ? figure(first) : `${figure(first)}–${figure(last)}`
}

function placesOf({ standsFor }: ShownMessage): string {
  if (standsFor === null) return ''
  const { start, end } = standsFor
  return end - start <= 1 ? figure(start) : `${figure(start)}–${figure(end - 1)}`
}

function meanings(messages: readonly ShownMessage[]): HtmlEscapedString {
  const present = new Set(messages.map(({ treatment }) => treatment))
  return html`<details id="meanings" class="figures">
    <summary>What the words mean</summary>
    <dl>
      ${[...present].map(
        (treatment) =>
          html`<div>
            <dt>${treatment}</dt>
            <dd>${treatmentMeanings[treatment]}</dd>
          </div>`,
      )}
    </dl>
    <p class="soft">
      Messages are counted from 0. Tokens are Foldgate's own counts. The words behind a role say why a message
      stays as it is.
    </p>
  </details>`
}

function tenths(value: number): number {
  return Math.round(value * 10) / 10
}
