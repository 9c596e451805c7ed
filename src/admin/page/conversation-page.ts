import type { ConversationDetail } from '../../telemetry/conversations/conversations.ts'
import { chart } from './chart.ts'
import {
  answeringMark,
  clientName,
  conversationLink,
  conversationName,
  conversationPath,
  observedWords,
  requestState,
} from './conversation-list.ts'
import { eventTable } from './event-table.ts'
import {
  ago,
  boundedFigure,
  clock,
  figure,
  foreign,
  html,
  type HtmlEscapedString,
  moment,
  percent,
  plural,
  unknownFigure,
} from './markup.ts'
import { gauge, requestLine } from './request-words.ts'
import { layout, type PageSetting } from './layout.ts'
import { messageList } from './message-list.ts'
import { windowWords } from './window-words.ts'
import type { UsageRow } from '../../telemetry/journal/rows.ts'
import { compactionReason } from '../compaction-reason.ts'

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
  const {
    id,
    label,
    answering,
    client,
    opening,
    pressure,
    sent_pressure: sentPressure,
    tokens_are_bounds: isBound,
  } = conversation
  const name = conversationName(conversation)
  const program = clientName(client)
  return html`<section id="facts" data-live aria-labelledby="conversation-title">
    <h1 id="conversation-title">
      ${name === null ? html`<code>${id}</code>` : foreign(name)} ${answering && answeringMark}
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
      ${program !== null && fact('Client', foreign(program))}
      ${fact('Model', conversation.model === '' ? 'none named' : foreign(conversation.model))}
      ${fact('Profile', conversation.profile === null ? 'none' : foreign(conversation.profile))}
      ${opening?.folder != null && fact('Folder', html`<code>${foreign(opening.folder)}</code>`)}
      ${conversation.client_key !== null && fact('Client key', foreign(conversation.client_key))}
      ${fact('Window', windowFact(conversation))} ${fact('Requests', figure(conversation.requests))}
      ${fact('Would not have fit', figure(conversation.beyond_window))}
      ${fact('Compactions', figure(conversation.compactions))}
      ${fact('Latest request', requestState(conversation))}
      ${fact('First seen', moment(conversation.first_seen))}
      ${fact('Last seen', html`<time datetime="${conversation.last_seen}" title="${moment(conversation.last_seen)}">${ago(conversation.last_seen, now)}</time>`)}
      ${label !== null && name !== label && fact('Label', foreign(label))}
      ${name !== null && fact('Id', html`<code>${id}</code>`)}
      ${conversation.parent !== null && fact('Branched off', conversationLink(conversation.parent, null))}
    </dl>
  </section>`
}

function fact(name: string, value: string | HtmlEscapedString): HtmlEscapedString {
  return html`<div>
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`
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
  return html`<section id="chart" data-live aria-labelledby="chart-title">
    <h2 id="chart-title">Tokens over its requests</h2>
    ${
      rows.length === 0
        ? html`<p class="soft">None of its requests is on record any more.</p>`
        : html`${chart({ rows, firstNumber, now })} ${requestsTable(rows, firstNumber, now)}`
    }
  </section>`
}

/** The chart's figures, to be read aloud or copied. The newest first. */
function requestsTable(rows: readonly UsageRow[], firstNumber: number, now: Date): HtmlEscapedString {
  // Columns that only some conversations have.
  const shows = {
    written: rows.some((row) => (row.cache_written_tokens ?? 0) > 0),
    missed: rows.some((row) => row.cache_miss !== null),
    removed: rows.some((row) => row.reasoning_removed > 0),
  }
  return html`<details id="requests" class="figures">
    <summary>The figures of every request</summary>
    <div class="wide" tabindex="0" role="region" aria-label="The figures of every request">
      <table>
        <thead>
          <tr>
            <th scope="col" class="right">#</th>
            <th scope="col">Time, UTC</th>
            <th scope="col" class="right">In</th>
            <th scope="col" class="right">Sent</th>
            <th scope="col" class="right">Provider's count</th>
            <th scope="col" class="right">Of that cached</th>
            ${shows.written && html`<th scope="col" class="right">Newly cached</th>`}
            ${shows.missed && html`<th scope="col">Not cached since it changed</th>`}
            <th scope="col" class="right">Pressure</th>
            <th scope="col">What became of it</th>
            <th scope="col">Compaction</th>
            ${shows.removed && html`<th scope="col" class="right">Reasoning left out</th>`}
          </tr>
        </thead>
        <tbody>
          ${rows.map((row, at) => line(row, firstNumber + at, now, shows)).toReversed()}
        </tbody>
      </table>
    </div>
  </details>`
}

function line(
  row: UsageRow,
  number: number,
  now: Date,
  shows: Record<'written' | 'missed' | 'removed', boolean>,
): HtmlEscapedString {
  return html`<tr id="request-${number}">
    <th scope="row" class="right">${figure(number)}</th>
    <td>${clock(row.time, now)}</td>
    <td class="right">${boundedFigure(row.tokens_received, row.tokens_are_bounds)}</td>
    <td class="right">
      ${boundedFigure(row.tokens_sent, row.tokens_are_bounds)}${row.observed_tokens_sent !== null && `, observed ${figure(row.observed_tokens_sent)}`}
    </td>
    <td class="right">${figure(row.prompt_tokens)}</td>
    <td class="right">${figure(row.cached_tokens)}</td>
    ${shows.written && html`<td class="right">${figure(row.cache_written_tokens)}</td>`}
    ${shows.missed && html`<td>${row.cache_miss}</td>`}
    <td class="right">${row.pressure === null ? unknownFigure : percent(row.pressure)}</td>
    <td>${foreign(requestLine(row))}</td>
    <td>${row.compaction !== null && compactionReason(row.compaction)}</td>
    ${shows.removed && html`<td class="right">${removedWords(row)}</td>`}
  </tr>`
}

/** What the upstream left out of the prompt, and of it what it would not have but for Foldgate. */
function removedWords({ reasoning_removed: all, reasoning_removed_by_foldgate: ours }: UsageRow): string {
  return ours === 0 ? figure(all) : `${figure(all)}, by Foldgate ${figure(ours)}`
}
