import type { ConversationDetail } from '../../telemetry/conversations/read-conversations.ts'
import { chart } from './chart.ts'
import {
  answeringMark,
  clientName,
  conversationLink,
  conversationName,
  conversationPath,
  gauge,
  observedWords,
  requestState,
} from './conversation-table.ts'
import { eventTable } from './event-table.ts'
import {
  agoElement,
  boundedFigure,
  clock,
  type Column,
  definitions,
  figure,
  foreign,
  foreignOr,
  html,
  type HtmlEscapedString,
  liveSection,
  moment,
  percent,
  plural,
  table,
  unknownFigure,
} from './markup.ts'
import { compactionReason, requestLine, windowWords } from '../told-words.ts'
import { layout, type PageSetting } from './page-frame.ts'
import { messageList } from './message-list.ts'
import type { UsageRow } from '../../telemetry/journal/rows.ts'

export type ConversationPageOptions = PageSetting & {
  readonly conversation: ConversationDetail
}

/** The page at `/conversations/ID`: what is known of a conversation, and what became of each of its messages. */
export function conversationPage({ conversation, ...setting }: ConversationPageOptions): HtmlEscapedString {
  const { id, events } = conversation
  const { now } = setting
  return layout({
    ...setting,
    title: `${conversationName(conversation) ?? id} · Foldgate`,
    conversation: id,
    main: html`<nav aria-label="Way back"><a href="/">← All conversations</a></nav>
      ${facts(conversation, now)} ${actions(id)} ${requests(conversation, now)} ${messageList(conversation)}
      ${eventTable({ events, now, names: null, hadEvents: conversation.compactions > 0 })}`,
  })
}

// --- internal ---

function facts(conversation: ConversationDetail, now: Date): HtmlEscapedString {
  const { id, label, pressure, sent_pressure: sentPressure, tokens_are_bounds: isBound } = conversation
  const name = conversationName(conversation)
  const program = clientName(conversation.client)
  const folder = conversation.opening?.folder ?? null
  return html`<section id="facts" data-live aria-labelledby="conversation-title">
    <h1 id="conversation-title">
      ${name === null ? html`<code>${id}</code>` : foreign(name)} ${conversation.answering && answeringMark}
    </h1>
    <div class="standing">
      ${gauge(conversation)}
      <p>
        ${pressure === null ? 'The latest request was not measured.' : html`of the budget sent${sentPressure !== null && sentPressure !== pressure && `; as it came it was ${percent(pressure)}`}`}
      </p>
      <p class="soft">
        ${boundedFigure(conversation.tokens_received, isBound)} tokens in →
        ${boundedFigure(conversation.tokens_sent, isBound)} sent
        ${conversation.observed_tokens_sent !== null && `(${observedWords(conversation.observed_tokens_sent)})`}
      </p>
    </div>
    <dl class="facts-list">
      ${definitions([
        program !== null && ['Client', foreign(program)],
        ['Model', foreignOr(conversation.model === '' ? null : conversation.model, 'none named')],
        ['Profile', foreignOr(conversation.profile, 'none')],
        folder !== null && ['Folder', html`<code>${foreign(folder)}</code>`],
        conversation.client_key !== null && ['Client key', foreign(conversation.client_key)],
        ['Window', windowFact(conversation)],
        ['Requests', figure(conversation.requests)],
        ['Would not have fit', figure(conversation.beyond_window)],
        ['Compactions', figure(conversation.compactions)],
        ['Latest request', requestState(conversation)],
        ['First seen', moment(conversation.first_seen)],
        ['Last seen', agoElement(conversation.last_seen, now)],
        label !== null && name !== label && ['Label', foreign(label)],
        name !== null && ['Id', html`<code>${id}</code>`],
        conversation.parent !== null && ['Branched off', conversationLink(conversation.parent, null)],
      ])}
    </dl>
  </section>`
}

function windowFact({ window_tokens: tokens, rows }: ConversationDetail): string | HtmlEscapedString {
  if (tokens === null) return 'not known'
  const row = rows.at(-1)
  const source = row?.window_source ?? null
  if (row === undefined || source === null) return plural(tokens, 'token')
  const { overruled_tokens, profile } = row
  return html`${plural(tokens, 'token')}: ${windowWords({ tokens, source, overruled_tokens, profile })}`
}

/** Plain buttons that the script acts on: what to ask for, what to ask the user first, what to say when it is done. */
function actions(id: string): HtmlEscapedString {
  return html`<section class="actions" aria-label="What can be done">
    <button
      type="button"
      data-method="POST"
      data-path="${conversationPath(id)}/compact"
      data-done="Asked for: the next request of this conversation is compacted."
    >
      Compact at the next request
    </button>
    <button
      type="button"
      data-method="DELETE"
      data-path="${conversationPath(id)}"
      data-confirm="Delete the records and summaries that are kept of this conversation? Its next request is treated as if it were the first."
      data-done="Deleted: the records and summaries of this conversation."
    >
      Delete what is kept
    </button>
    <p id="said" role="status" aria-live="polite"></p>
  </section>`
}

function requests({ rows, requests: total }: ConversationDetail, now: Date): HtmlEscapedString {
  const firstNumber = Math.max(total - rows.length, 0) + 1
  const found =
    rows.length === 0
      ? html`<p class="soft">None of its requests is on record any more.</p>`
      : [chart({ rows, firstNumber, now }), requestsTable(rows, firstNumber, now)]
  return liveSection('chart', 'Tokens over its requests', found)
}

/** The chart's figures, to be read aloud or copied. The newest first. */
function requestsTable(rows: readonly UsageRow[], firstNumber: number, now: Date): HtmlEscapedString {
  const numberOf = (place: number): number => firstNumber + rows.length - 1 - place
  const has = (isShown: (row: UsageRow) => boolean): boolean => rows.some(isShown)
  const columns: readonly (Column<UsageRow> | false)[] = [
    ['#', 'right', (_, place) => figure(numberOf(place)), 'name'],
    ['Time, UTC', '', ({ time }) => clock(time, now)],
    ['In', 'right', (row) => boundedFigure(row.tokens_received, row.tokens_are_bounds)],
    ['Sent', 'right', sentWords],
    ["Provider's count", 'right', (row) => figure(row.prompt_tokens)],
    ['Of that cached', 'right', (row) => figure(row.cached_tokens)],
    has((row) => (row.cache_written_tokens ?? 0) > 0) && [
      'Newly cached',
      'right',
      (row) => figure(row.cache_written_tokens),
    ],
    has((row) => row.cache_miss !== null) && ['Not cached since it changed', '', (row) => row.cache_miss],
    ['Pressure', 'right', ({ pressure }) => (pressure === null ? unknownFigure : percent(pressure))],
    ['What became of it', '', (row) => foreign(requestLine(row))],
    ['Compaction', '', ({ compaction }) => compaction !== null && compactionReason(compaction)],
    has((row) => row.reasoning_removed > 0) && ['Reasoning left out', 'right', removedWords],
  ]
  return html`<details id="requests" class="figures">
    <summary>The figures of every request</summary>
    <div class="wide" tabindex="0" role="region" aria-label="The figures of every request">
      ${table(rows.toReversed(), columns, (_, place) => `request-${numberOf(place)}`)}
    </div>
  </details>`
}

function sentWords(row: UsageRow): string {
  const observed = row.observed_tokens_sent === null ? '' : `, observed ${figure(row.observed_tokens_sent)}`
  return boundedFigure(row.tokens_sent, row.tokens_are_bounds) + observed
}

/** What the upstream left out of the prompt, and of it what it would not have but for Foldgate. */
function removedWords({ reasoning_removed: all, reasoning_removed_by_foldgate: ours }: UsageRow): string {
  return ours === 0 ? figure(all) : `${figure(all)}, by Foldgate ${figure(ours)}`
}
