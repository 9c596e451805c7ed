import type { ConversationDetail } from '../../telemetry/conversations/read-conversations.ts'
import type { ShownMessage } from '../../telemetry/conversations/shown-messages.ts'
import { definitions, figure, html, type HtmlEscapedString, liveSection, plural } from './markup.ts'
import { compactionWords, treatments } from '../told-words.ts'
import {
  messageLine,
  messageName,
  type MessageScale,
  messageText,
  partLine,
  shownControls,
  tokenBar,
} from './message-line.ts'
import { type PartSize, treatedMessages } from '../../telemetry/request-report.ts'

/** Side by side what came in with the latest request and what was sent, message by message. */
export function messageList(
  conversation: Pick<ConversationDetail, 'messages' | 'entry_name' | 'shows_content' | 'around' | 'rows'>,
): HtmlEscapedString {
  const { messages, entry_name: entryName, shows_content: showsContent } = conversation
  const found =
    messages === null
      ? html`<p class="soft">
          They are no longer held. Messages are kept in memory only, for a while, by the process that had the
          request; the next request of this conversation brings them back.
        </p>`
      : sideBySide(sizedRequest(messages, conversation), { entryName, showsContent })
  return liveSection('messages', `${titles[entryName]} of the latest request`, found)
}

/**
 * Messages that are shown as one: those that a summary or recap stands for, as far as they are there, with that; or without it one
 * by itself, or many in a row that were sent as they came.
 */
type MessageRun = { readonly standIn: ShownMessage | null; readonly messages: ShownMessage[] }

/**
 * @internal exported for tests. Groups messages for the eye, in their order: what was folded beside what stands for it, and
 * long stretches of kept ones.
 */
export function messageRuns(messages: readonly ShownMessage[]): readonly MessageRun[] {
  const folds = messages
    .filter(({ standsFor }) => standsFor !== null)
    .map((standIn): MessageRun => ({ standIn, messages: [] }))
  const runs: MessageRun[] = []
  let stretch: ShownMessage[] = []

  function add(...run: readonly MessageRun[]): void {
    const kept = stretch.length >= KEPT_RUN_MIN ? [stretch] : stretch.map((message) => [message])
    runs.push(...kept.map((those) => ({ standIn: null, messages: those })), ...run)
    stretch = []
  }

  for (const message of messages) {
    const fold = folds.find(({ standIn }) => standIn === message || isFoldedInto(standIn, message))
    // Wherever the two are met first: a summary may stand before or behind what it is made of.
    if (fold !== undefined && !runs.includes(fold)) add(fold)
    if (fold === undefined && isUnremarkable(message)) stretch.push(message)
    else if (fold === undefined) add({ standIn: null, messages: [message] })
    else if (fold.standIn !== message) fold.messages.push(message)
  }
  add()
  return runs
}

/** Messages and what stands around them, each with tokens as far as these can be told. */
type SizedRequest = ReturnType<typeof sizedRequest>

/** @internal exported for tests. The sizes of the latest request. */
export function sizedRequest(
  messages: readonly ShownMessage[],
  { around, rows }: Pick<ConversationDetail, 'around' | 'rows'>,
) {
  const tools = around?.tools ?? nothing
  const system = around?.system ?? nothing
  const counted = { messages, toolsTokens: tools.tokens, systemTokens: system.tokens, isEstimate: false }
  const promptTokens = rows.at(-1)?.prompt_tokens ?? null
  const isCounted = messages.some(({ receivedTokens }) => receivedTokens !== null)
  const bytes = tools.bytes + system.bytes + messages.reduce((sum, message) => sum + message.bytes, 0)
  if (isCounted || promptTokens === null || bytes === 0) return counted
  const share = (part: number): number => Math.round((part / bytes) * promptTokens)
  return {
    messages: messages.map((message) => ({
      ...message,
      receivedTokens: share(message.bytes),
      sentTokens: share(message.bytes),
    })),
    toolsTokens: share(tools.bytes),
    systemTokens: share(system.bytes),
    /** Tokens are the provider's count, shared out by bytes, since Foldgate had no need to count. */
    isEstimate: true,
  }
}

// --- internal ---

/** What words of size mean that stand all over the pages. */
const sizeMeanings = {
  budget: 'what a prompt may take: the window less what is kept free for the reply',
  pressure: 'tokens of a prompt as a share of the budget; at 100% it is full',
  trigger: 'the pressure at which a compaction begins; the profile sets it',
} as const

const treatmentMeanings = Object.entries(treatments).map(
  ([treatment, { meaning }]) => [treatment, meaning] as const,
)

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

function shownRun({ standIn, messages }: MessageRun, scale: MessageScale) {
  if (standIn === null && messages.length === 1) return messages.map((message) => messageLine(message, scale))
  if (standIn === null)
    return html`<li id="kept-${messageName(messages[0])}">${bundle(messages, 'kept', scale)}</li>`
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
    <dl>${definitions([...Object.entries(sizeMeanings), ...treatmentMeanings])}</dl>
    <p class="soft">
      ${titles[entryName]} are counted from 0. Tokens are Foldgate's own counts. The words behind a role say
      why a message stays as it is.
    </p>
  </details>`
}

/** Fewer in a row are shown one by one. */
const KEPT_RUN_MIN = 4

function isFoldedInto(standIn: ShownMessage | null, { treatment, index }: ShownMessage): boolean {
  const standsFor = standIn?.standsFor ?? null
  if (standsFor === null || treatment !== 'folded' || index === null) return false
  return standsFor.start <= index && index < standsFor.end
}

const sought: ReadonlySet<ShownMessage['pinned']> = new Set([
  'system',
  'history-start',
  'task',
  'latest-user',
])

/** Kept, and none of those that one looks for: the system messages, the task, the latest question. */
function isUnremarkable({ treatment, pinned }: ShownMessage): boolean {
  return treatment === 'kept' && (pinned === null || !sought.has(pinned))
}

const nothing: PartSize = { tokens: null, bytes: 0 }
