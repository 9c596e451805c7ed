import type { UsageRow } from '../../activity/journal/rows.ts'
import { compactionReason } from '../compaction-reason.ts'
import { boundedFigure, clock, figure, percent, unknownFigure } from './figures.ts'
import { foreign, html, type HtmlEscapedString } from './markup.ts'
import { requestLine } from './request-words.ts'

/** The chart's figures, to be read aloud or copied. The newest first. */
export function requestsTable(rows: readonly UsageRow[], firstNumber: number, now: Date): HtmlEscapedString {
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

// --- internal ---

/** Columns that only some conversations have. */
type Shown = { readonly written: boolean; readonly missed: boolean; readonly removed: boolean }

function line(row: UsageRow, number: number, now: Date, shows: Shown): HtmlEscapedString {
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
