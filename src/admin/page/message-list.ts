import type { ConversationDetail } from '../../activity/conversations/conversations.ts'
import type { ShownMessage } from '../../activity/conversations/held-content.ts'
import { figure, plural } from './figures.ts'
import { html, type HtmlEscapedString } from './markup.ts'
import { compactionWords, treatedMessages } from './compaction-words.ts'
import {
  messageLine,
  messageName,
  messageText,
  partLine,
  tokenBar,
  type MessageScale,
} from './message-line.ts'
import { messageRuns, type MessageRun } from './message-runs.ts'
import { sizedRequest, type SizedRequest } from './message-sizes.ts'
import { sizeMeanings, treatmentMeanings } from './message-meanings.ts'
import { shownControls } from './readable-text.ts'

/** Side by side what came in with the latest request and what was sent, message by message. */
export function messageList(
  conversation: Pick<ConversationDetail, 'messages' | 'entry_name' | 'shows_content' | 'around' | 'rows'>,
): HtmlEscapedString {
  const { messages, entry_name: entryName, shows_content: showsContent } = conversation
  return html`<section id="messages" data-live aria-labelledby="messages-title">
    <h2 id="messages-title">${titles[entryName]} of the latest request</h2>
    ${
      messages === null
        ? html`<p class="soft">
            They are no longer held. Messages are kept in memory only, for a while, by the process that had
            the request; the next request of this conversation brings them back.
          </p>`
        : sideBySide(sizedRequest(messages, conversation), { entryName, showsContent })
    }
  </section>`
}

// --- internal ---

const titles = { message: 'Messages', item: 'Items', block: 'Blocks' } as const

function sideBySide(
  { messages, toolsTokens, systemTokens, isEstimate }: SizedRequest,
  { entryName, showsContent }: Pick<MessageScale, 'entryName' | 'showsContent'>,
): HtmlEscapedString {
  const around = [toolsTokens ?? 0, systemTokens ?? 0]
  const sizes = messages.flatMap(({ receivedTokens, sentTokens }) => [receivedTokens ?? 0, sentTokens ?? 0])
  const scale = { tokensMax: Math.max(1, ...around, ...sizes), entryName, showsContent }
  const done = compactionWords(treatedMessages(messages), entryName)
  return html`${done !== null && html`<p class="done">${done}.</p>`}
    <p class="soft">${balance(messages, entryName)}</p>
    ${done !== null && html`<p class="soft">The client still has all of it; the model reads what was left out back only where the profile has <code>recall</code>.</p>`}
    ${isEstimate && html`<p class="soft">Foldgate had no need to count: the tokens of each are the provider's count, shared out by bytes.</p>`}
    ${!showsContent && html`<p class="note">Texts are not shown. To see them, write <code>admin: {show_content: true}</code> into <code>foldgate.yaml</code> and restart Foldgate.</p>`}
    <div class="heads" aria-hidden="true"><span>came in</span><span>was sent</span></div>
    <ol class="exchange">
      ${partLine('around-tools', 'tools', toolsTokens, scale)}
      ${partLine('around-system', `system text beside the ${entryName}s`, systemTokens, scale)}
      ${messageRuns(messages).map((run) => shownRun(run, scale))}
    </ol>
    ${meanings(entryName)}`
}

const unsent: ReadonlySet<ShownMessage['treatment']> = new Set(['folded', 'dropped', 'outdated', 'joined'])

/** How much came, and how much was sent. */
function balance(messages: readonly ShownMessage[], entryName: MessageScale['entryName']): string {
  const came = messages.filter(({ index }) => index !== null)
  const sent = messages.filter(({ treatment }) => !unsent.has(treatment))
  return `${plural(came.length, entryName)} with ${total(came, 'receivedTokens')} came in, ${figure(sent.length)} with ${total(sent, 'sentTokens')} were sent.`
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
  const { treatment, sentTokens, sent, sentText, standsFor } = standIn
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
      ${tokenBar('sent', sentTokens, scale)}
      ${scale.showsContent && messageText(sentText === null ? null : shownControls(sentText), sent, 'its text')}
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

/** All of them: what happened earlier has words, too. */
function meanings(entryName: MessageScale['entryName']): HtmlEscapedString {
  return html`<details id="meanings" class="figures">
    <summary>What the words mean</summary>
    <dl>
      ${Object.entries({ ...sizeMeanings, ...treatmentMeanings }).map(
        ([word, meaning]) =>
          html`<div>
            <dt>${word}</dt>
            <dd>${meaning}</dd>
          </div>`,
      )}
    </dl>
    <p class="soft">
      ${titles[entryName]} are counted from 0. Tokens are Foldgate's own counts. The words behind a role say
      why a message stays as it is.
    </p>
  </details>`
}
