import type { ConversationDetail } from '../../activity/conversations/conversations.ts'
import type { ShownMessage } from '../../activity/conversations/held-content.ts'
import { figure, plural } from './figures.ts'
import { html, type HtmlEscapedString } from './markup.ts'
import { messageLine, messageName, messageText, tokenBar, type MessageScale } from './message-line.ts'
import { messageRuns, type MessageRun } from './message-runs.ts'
import { treatmentMeanings } from './message-words.ts'

/** Side by side what came in with the latest request and what was sent, message by message. */
export function messageList({
  messages,
  entry_name: entryName,
  shows_content: showsContent,
}: Pick<ConversationDetail, 'messages' | 'entry_name' | 'shows_content'>): HtmlEscapedString {
  return html`<section id="messages" data-live aria-labelledby="messages-title">
    <h2 id="messages-title">${titles[entryName]} of the latest request</h2>
    ${
      messages === null
        ? html`<p class="soft">
            They are no longer held. Messages are kept in memory only, for a while, by the process that had
            the request; the next request of this conversation brings them back.
          </p>`
        : sideBySide(messages, { entryName, showsContent })
    }
  </section>`
}

// --- internal ---

const titles = { message: 'Messages', item: 'Items', block: 'Blocks' } as const

function sideBySide(
  messages: readonly ShownMessage[],
  { entryName, showsContent }: Pick<MessageScale, 'entryName' | 'showsContent'>,
): HtmlEscapedString {
  const sizes = messages.flatMap(({ receivedTokens, sentTokens }) => [receivedTokens ?? 0, sentTokens ?? 0])
  const scale = { tokensMax: Math.max(1, ...sizes), entryName, showsContent }
  return html`<p class="soft">${balance(messages, entryName)}</p>
    ${!showsContent && html`<p class="note">Texts are not shown: <code>admin.show_content</code> is off in <code>foldgate.yaml</code>.</p>`}
    <div class="heads" aria-hidden="true"><span>came in</span><span>was sent</span></div>
    <ol class="exchange">
      ${messageRuns(messages).map((run) => shownRun(run, scale))}
    </ol>
    ${meanings(messages, entryName)}`
}

const unsent: ReadonlySet<ShownMessage['treatment']> = new Set(['folded', 'dropped', 'outdated', 'joined'])

/** What came, what was sent, and how much of it was treated in which way. */
function balance(messages: readonly ShownMessage[], entryName: MessageScale['entryName']): string {
  const came = messages.filter(({ index }) => index !== null)
  const sent = messages.filter(({ treatment }) => !unsent.has(treatment))
  const treated = Map.groupBy(messages, ({ treatment }) => treatment)
  const parts = Array.from(treated, ([treatment, those]) => `${figure(those.length)} ${treatment}`)
  return `${plural(came.length, entryName)} with ${total(came, 'receivedTokens')} came in, ${figure(sent.length)} with ${total(sent, 'sentTokens')} were sent: ${parts.join(', ')}.`
}

function total(messages: readonly ShownMessage[], side: 'receivedTokens' | 'sentTokens'): string {
  const counts = messages.flatMap((message) => message[side] ?? [])
  if (counts.length === 0 && messages.length > 0) return 'tokens that were not counted'
  return plural(
    counts.reduce((sum, count) => sum + count, 0),
    'token',
  )
}

function shownRun(run: MessageRun, scale: MessageScale): HtmlEscapedString {
  if (run.kind === 'single') return messageLine(run.message, scale)
  if (run.kind === 'kept') {
    return html`<li id="kept-${messageName(run.messages[0])}">${bundle(run.messages, 'kept', scale)}</li>`
  }
  const { standIn, messages } = run
  const { treatment, sentTokens, sent, standsFor } = standIn
  const places = standsFor === null ? '' : span(standsFor.start, standsFor.end - 1)
  return html`<li id="fold-${messageName(standIn)}" class="fold-pair">
    <div class="folded">
      ${
        messages.length === 0
          ? html`<p class="soft">What it stands for came with an earlier request.</p>`
          : bundle(messages, 'folded', scale)
      }
    </div>
    <div class="stand-in">
      <p>
        <span class="badge made">${treatment}</span> <span class="place">for ${places}</span>
        <span class="size">${sentTokens === null ? null : plural(sentTokens, 'token')}</span>
      </p>
      ${tokenBar('sent', sentTokens, scale)} ${scale.showsContent && messageText(sent, 'its text')}
    </div>
  </li>`
}

/** Messages behind one line that says how many they are. */
function bundle(messages: readonly ShownMessage[], what: string, scale: MessageScale): HtmlEscapedString {
  const places = span(messages[0]?.index ?? null, messages.at(-1)?.index ?? null)
  return html`<details class="bundle">
    <summary>
      <span class="place">${places}</span>
      <span>${plural(messages.length, scale.entryName)} ${what}</span>
      <span class="size">${total(messages, 'receivedTokens')}</span>
    </summary>
    <ol>
      ${messages.map((message) => messageLine(message, scale))}
    </ol>
  </details>`
}

/** `3–98`, counted from 0 as errors of providers do. */
function span(first: number | null, last: number | null): string {
  return first === last ? figure(first) : `${figure(first)}–${figure(last)}`
}

function meanings(
  messages: readonly ShownMessage[],
  entryName: MessageScale['entryName'],
): HtmlEscapedString {
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
      ${titles[entryName]} are counted from 0. Tokens are Foldgate's own counts. The words behind a role say
      why a message stays as it is.
    </p>
  </details>`
}
