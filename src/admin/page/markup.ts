import { html as honoHtml } from 'hono/html'
import type { HtmlEscapedString } from 'hono/utils/html'

export type { HtmlEscapedString } from 'hono/utils/html'

/** What may stand in a template: text and numbers, which are escaped, markup, and nothing. */
export type MarkupPart = string | number | HtmlEscapedString | false | null | readonly MarkupPart[]

/** Markup from a template. Everything that is put into it is escaped, in text as in quoted attributes. */
export function html(strings: TemplateStringsArray, ...parts: readonly MarkupPart[]): HtmlEscapedString {
  const made = honoHtml(strings, ...parts)
  if (made instanceof Promise)
    throw new TypeError('A page is made of what is there: a part of it is a promise.')
  return made
}

/**
 * Text from outside (a label, a model, a tool). Set apart from what stands around it: characters that turn the writing
 * direction turn nothing else.
 */
export function foreign(text: string): HtmlEscapedString {
  return html`<bdi>${text}</bdi>`
}

/** The same, or these words of ours where there is none. */
export function foreignOr(text: string | null, instead: string): HtmlEscapedString | string {
  return text === null ? instead : foreign(text)
}

/** A column of a table. Its head is set to the right if its cells are. Where the screen is too narrow for heads, it stands by figures. */
export type Column<Row> = readonly [
  head: string | HtmlEscapedString,
  /** Of its cells; '' for none. Those of figures are `right`. */
  classes: string,
  cell: (row: Row, place: number) => MarkupPart,
  /** Whether its cells name their rows. */
  role?: 'name',
]

/** A table of these columns, without those that are `false`. `idOf`: of a row, as an element. */
export function table<Row>(
  rows: readonly Row[],
  columns: readonly (Column<Row> | false)[],
  idOf?: (row: Row, place: number) => string,
): HtmlEscapedString {
  const shown = columns.filter((column) => column !== false)
  return html`<table>
    <thead>
      <tr>
        ${shown.map(([head, classes]) => html`<th scope="col" ${/\bright\b/.test(classes) && html`class="right"`}>${head}</th> `)}
      </tr>
    </thead>
    <tbody>
      ${rows.map(
        (row, place) =>
          html`<tr ${idOf !== undefined && html`id="${idOf(row, place)}"`}>
            ${shown.map((column) => cell(column, column[2](row, place)))}
          </tr>`,
      )}
    </tbody>
  </table>`
}

/** A part of a page that the script renews, under its title; hidden where it holds nothing. */
export function liveSection(id: string, title: string, content: MarkupPart): HtmlEscapedString {
  return html`<section
    id="${id}"
    data-live
    aria-labelledby="${id}-title"
    ${content === false && html`hidden`}
  >
    <h2 id="${id}-title">${title}</h2>
    ${content}
  </section>`
}

/** Names with their values. */
export function definitions(entries: readonly (readonly [name: string, value: MarkupPart] | false)[]) {
  return entries.map(
    (entry) =>
      entry !== false &&
      html`<div>
        <dt>${entry[0]}</dt>
        <dd>${entry[1]}</dd>
      </div>`,
  )
}

/** How the pages write numbers and times. */

/** What is shown for a figure that is not known. */
export const unknownFigure = '–'

/** `12,345`; a dash where it is not known. */
export function figure(value: number | null): string {
  return value === null ? unknownFigure : Math.round(value).toLocaleString('en-US')
}

/** `12,345`, and `≤ 12,345` where only an upper bound is known. */
export function boundedFigure(value: number | null, isBound: boolean): string {
  return value !== null && isBound ? `≤ ${figure(value)}` : figure(value)
}

/** `12.3k`, for axes. */
export function shortFigure(value: number): string {
  return value.toLocaleString('en-US', { notation: 'compact', maximumFractionDigits: 1 })
}

/** `1 request`, `2 requests`. */
export function plural(value: number, word: string, many = `${word}s`): string {
  return `${figure(value)} ${Math.round(value) === 1 ? word : many}`
}

/** `83%` of 0.83. A pressure below a threshold is never shown as if it had reached it. */
export function percent(ratio: number): string {
  return `${Math.floor(ratio * 100 + 1e-9).toLocaleString('en-US')}%`
}

/** An amount of money without its currency, which nobody tells: two digits, more for what would vanish. */
export function money(amount: number): string {
  const size = Math.abs(amount)
  if (size > 0 && size < 0.1) return amount.toLocaleString('en-US', { maximumSignificantDigits: 2 })
  return amount.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })
}

/** `38 ms`, `1.4 s`, `2 min`; a dash where it is not known. */
export function duration(milliseconds: number | null): string {
  if (milliseconds === null) return unknownFigure
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`
  if (milliseconds < 60_000) return `${(milliseconds / 1_000).toFixed(1)} s`
  return `${figure(milliseconds / 60_000)} min`
}

/** @internal exported for tests. How long ago an instant (ISO 8601) was. Coarse, so that a page that is a minute old does not lie by much. */
export function ago(instant: string, now: Date): string {
  const seconds = (now.getTime() - Date.parse(instant)) / 1_000
  if (Number.isNaN(seconds)) return instant
  if (seconds < 60) return 'just now'
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ago`
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h ago`
  return day(instant)
}

/** The same as an element that has the whole time. */
export function agoElement(instant: string, now: Date): HtmlEscapedString {
  return timeElement(instant, ago(instant, now))
}

/** An instant (ISO 8601) by these words, which has the whole time as its title. */
export function timeElement(instant: string, words: string): HtmlEscapedString {
  return html`<time datetime="${instant}" title="${moment(instant)}">${words}</time>`
}

/** `14:03:22` of today, else with the day: `20 Nov 14:03:22`. In UTC, as journal and log have it. */
export function clock(instant: string, now: Date): string {
  const time = written(instant)?.slice(11, 19)
  if (time === undefined) return instant
  return written(instant)?.slice(0, 10) === now.toISOString().slice(0, 10) ? time : `${day(instant)} ${time}`
}

/** `20 Nov 2026, 14:03 UTC`. */
export function moment(instant: string): string {
  const iso = written(instant)
  return iso === null ? instant : `${day(instant)} ${iso.slice(0, 4)}, ${iso.slice(11, 16)} UTC`
}

// --- internal ---

function cell<Row>([head, names, , role]: Column<Row>, value: MarkupPart): HtmlEscapedString {
  const classes = names !== '' && html`class="${names}"`
  if (role === 'name') return html`<th scope="row" ${classes}>${value}</th> `
  const caption = names === 'right' && typeof head === 'string' && html`data-name="${head.toLowerCase()}"`
  return html`<td ${classes} ${caption}>${value}</td> `
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** Null for what is no instant: a record from elsewhere may hold anything. */
function written(instant: string): string | null {
  const date = new Date(instant)
  return Number.isNaN(date.getTime()) ? null : date.toISOString()
}

function day(instant: string): string {
  const date = new Date(instant)
  return `${date.getUTCDate()} ${months[date.getUTCMonth()] ?? ''}`
}
