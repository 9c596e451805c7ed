import type { UsageRow } from '../../activity/journal/rows.ts'
import {
  chartBottom,
  chartGeometry,
  chartHeight,
  chartTop,
  chartWidth,
  type ChartGeometry,
  type LevelLine,
  type Line,
  type Point,
} from './chart-geometry.ts'
import { chartLegend } from './chart-legend.ts'
import { compactionReason } from './event-words.ts'
import { boundedFigure, clock, counted, figure, shortFigure } from './figures.ts'
import { html, type HtmlEscapedString } from './markup.ts'

export type ChartOptions = {
  /** The oldest first. */
  readonly rows: readonly UsageRow[]
  /** The number of the first row's request in its conversation. */
  readonly firstNumber: number
  readonly now: Date
}

/**
 * Tokens in and tokens sent over a conversation's requests. Numbers go right of their axis and the drawing is stretched
 * beside it, so that text keeps its size at any width.
 */
export function chart(options: ChartOptions): HtmlEscapedString {
  const { rows } = options
  const geometry = chartGeometry(rows)
  return html`<figure class="chart">
    ${chartLegend(rows, geometry)}
    <div class="plot">
      <svg class="axis" width="52" height="${chartHeight}" aria-hidden="true">
        <text x="44" y="10">tokens</text>
        ${geometry.ticks.map(({ tokens, y }) => html`<text x="44" y="${y + 4}">${shortFigure(tokens)}</text>`)}
        <text x="48" y="${chartHeight - 6}">request</text>
      </svg>
      <svg
        class="drawing"
        width="100%"
        height="${chartHeight}"
        role="img"
        aria-label="${alternative(options)}"
      >
        ${geometry.ticks.map(({ y }) => html`<line class="grid" x1="0" x2="100%" y1="${y}" y2="${y}" />`)}
        <svg
          viewBox="0 0 ${chartWidth} ${chartHeight}"
          width="100%"
          height="${chartHeight}"
          preserveAspectRatio="none"
        >
          ${area('received', geometry.received)} ${area('sent', geometry.sent)}
          ${geometry.cached.map((bar) => html`<rect class="cached" x="${bar.x - geometry.band * 0.35}" y="${bar.y}" width="${geometry.band * 0.7}" height="${bar.height}" />`)}
          ${level('window', geometry.window)} ${level('budget', geometry.budget)}
          ${outline('received', geometry.received)} ${outline('sent', geometry.sent)}
        </svg>
        ${geometry.compactions.map(({ x }) => compactionMark(x))} ${lonely('received', geometry.received)}
        ${lonely('sent', geometry.sent)}
        ${geometry.marks.map((mark, at) => axisMark(mark, at, geometry.marks.length, options.firstNumber))}
        ${rows.map((row, at) => touched(row, at, geometry, options))}
      </svg>
    </div>
  </figure>`
}

// --- internal ---

/** The chart in a sentence. */
function alternative({ rows, firstNumber }: ChartOptions): string {
  const [first, last] = [rows[0], rows.at(-1)]
  if (first === undefined || last === undefined) return 'No request is on record.'
  const compactions = rows.filter((row) => row.compaction !== null).length
  const span = `Requests ${figure(firstNumber)} to ${figure(firstNumber + rows.length - 1)}.`
  const received = `Tokens in went from ${figure(first.tokens_received)} to ${figure(last.tokens_received)}`
  const sent = `tokens sent from ${figure(first.tokens_sent)} to ${figure(last.tokens_sent)}`
  const window = last.window_tokens === null ? '' : ` The window has ${figure(last.window_tokens)}.`
  return `${span} ${received}, ${sent}, with ${counted(compactions, 'compaction')}.${window} The table below has every figure.`
}

function area(name: string, line: Line): readonly HtmlEscapedString[] {
  return line.flatMap((points) => {
    const [first, last] = [points[0], points.at(-1)]
    if (first === undefined || last === undefined || first === last) return []
    return [
      html`<path
        class="area ${name}"
        d="${path(points)} L${last.x} ${chartBottom} L${first.x} ${chartBottom} Z"
      />`,
    ]
  })
}

function outline(name: string, line: Line): readonly HtmlEscapedString[] {
  return line
    .filter((points) => points.length > 1)
    .map((points) => html`<path class="line ${name}" d="${path(points)}" />`)
}

/** A request without a neighbour is a dot: a line of one point is invisible. */
function lonely(name: string, line: Line): readonly HtmlEscapedString[] {
  return line
    .filter((points) => points.length === 1)
    .flat()
    .map(({ x, y }) => html`<circle class="dot ${name}" cx="${share(x)}" cy="${y}" r="3" />`)
}

function path(points: readonly Point[]): string {
  return points.map(({ x, y }, at) => `${at === 0 ? 'M' : 'L'}${x} ${y}`).join(' ')
}

function level(name: string, line: LevelLine | null): readonly HtmlEscapedString[] {
  return (line?.steps ?? []).map(
    ({ x1, x2, y }) => html`<line class="level ${name}" x1="${x1}" x2="${x2}" y1="${y}" y2="${y}" />`,
  )
}

function compactionMark(x: number): HtmlEscapedString {
  return html`<line
      class="compaction"
      x1="${share(x)}"
      x2="${share(x)}"
      y1="${chartTop - 8}"
      y2="${chartBottom}"
    />
    <svg class="fold-place" x="${share(x)}" y="${chartTop - 14}">
      <path class="fold" d="M-5 0 h10 l-5 6 z" />
    </svg>`
}

function axisMark(
  mark: { readonly row: number; readonly x: number },
  at: number,
  marks: number,
  firstNumber: number,
): HtmlEscapedString {
  const anchor = marks > 1 && at === 0 ? 'start' : marks > 1 && at === marks - 1 ? 'end' : 'middle'
  const place = anchor === 'start' ? '0' : anchor === 'end' ? '100%' : share(mark.x)
  return html`<text class="mark" x="${place}" y="${chartHeight - 6}" text-anchor="${anchor}"
    >${figure(firstNumber + mark.row)}</text
  >`
}

/** What is told of a request under the pointer. */
function touched(
  row: UsageRow,
  at: number,
  { band }: ChartGeometry,
  { firstNumber, now }: ChartOptions,
): HtmlEscapedString {
  const { tokens_are_bounds: isBound } = row
  const lines = [
    `Request ${figure(firstNumber + at)}, ${clock(row.time, now)} UTC`,
    `${boundedFigure(row.tokens_received, isBound)} in, ${boundedFigure(row.tokens_sent, isBound)} sent`,
    ...(row.cached_tokens === null ? [] : [`${figure(row.cached_tokens)} from the cache`]),
    ...(row.compaction === null ? [] : [`Compaction: ${compactionReason(row.compaction)}`]),
  ]
  return html`<rect class="touch" x="${share(at * band)}" y="0" width="${share(band)}" height="${chartBottom}"
    ><title>${lines.join('\n')}</title></rect
  >`
}

function share(x: number): string {
  return `${Math.round((x / chartWidth) * 10_000) / 100}%`
}
