import type { UsageRow } from '../../activity/journal/rows.ts'
import {
  chartBottom,
  chartGeometry,
  chartHeight,
  chartTop,
  chartWidth,
  type ChartGeometry,
  type LevelLine,
} from './chart-geometry.ts'
import { compactionReason } from '../compaction-reason.ts'
import { boundedFigure, clock, plural, figure, shortFigure } from './figures.ts'
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
  const { rows, firstNumber } = options
  const geometry = chartGeometry(rows)
  const { band, ticks, marks, cached, compactions } = geometry
  return html`<figure class="chart">
    ${legend(rows.at(-1), geometry)}
    <div class="plot">
      <svg class="axis" width="52" height="${chartHeight}" aria-hidden="true">
        <text x="44" y="10">tokens</text>
        ${ticks.map(({ tokens, y }) => html`<text x="44" y="${y + 4}">${shortFigure(tokens)}</text>`)}
        <text x="48" y="${chartHeight - 6}">request</text>
      </svg>
      <svg
        class="drawing"
        width="100%"
        height="${chartHeight}"
        role="img"
        aria-label="${alternative(options)}"
      >
        ${ticks.map(({ y }) => html`<line class="grid" x1="0" x2="100%" y1="${y}" y2="${y}" />`)}
        <svg
          viewBox="0 0 ${chartWidth} ${chartHeight}"
          width="100%"
          height="${chartHeight}"
          preserveAspectRatio="none"
        >
          ${cached.map(({ x, y }) => html`<rect class="cached" x="${x - band * 0.35}" y="${y}" width="${band * 0.7}" height="${chartBottom - y}" />`)}
          ${level('window', geometry.window)} ${level('budget', geometry.budget)}
          ${outline('received', geometry.received)} ${outline('sent', geometry.sent)}
        </svg>
        ${compactions.map((x) => html`<line class="compaction" x1="${share(x)}" x2="${share(x)}" y1="${chartTop - 8}" y2="${chartBottom}" /><svg class="fold-place" x="${share(x)}" y="${chartTop - 14}"><path class="fold" d="M-5 0 h10 l-5 6 z" /></svg>`)}
        ${marks.map(({ row, x }, at) => {
          const isFirst = at === 0 && marks.length > 1
          const isLast = at === marks.length - 1 && marks.length > 1
          const anchor = isFirst ? 'start' : isLast ? 'end' : 'middle'
          const place = isFirst ? '0' : isLast ? '100%' : share(x)
          return html`<text x="${place}" y="${chartHeight - 6}" text-anchor="${anchor}"
            >${figure(firstNumber + row)}</text
          >`
        })}
        ${rows.map((row, at) => html`<rect class="touch" x="${share(at * band)}" y="0" width="${share(band)}" height="${chartBottom}"><title>${told(row, at, options)}</title></rect>`)}
      </svg>
    </div>
  </figure>`
}

// --- internal ---

/** What the lines and marks stand for; a level that is too far above the chart to be drawn is told here. */
function legend(
  latest: UsageRow | undefined,
  { window, budget, compactions, cached }: ChartGeometry,
): HtmlEscapedString {
  const key = (name: string, tokens: number | null, line: LevelLine | null) => {
    if (line !== null) return html`<li>${swatch(name)}${name} ${figure(line.tokens)}</li>`
    return tokens === null ? null : html`<li class="soft">${name} ${figure(tokens)}, above the chart</li>`
  }
  return html`<figcaption>
    <ul class="legend">
      <li>${swatch('received')}tokens in</li>
      <li>${swatch('sent')}tokens sent</li>
      ${cached.length > 0 && html`<li>${swatch('cached')}read from the provider's cache</li>`}
      ${compactions.length > 0 && html`<li>${swatch('compaction')}compaction</li>`}
      ${key('budget', latest?.budget_tokens ?? null, budget)}
      ${key('window', latest?.window_tokens ?? null, window)}
    </ul>
  </figcaption>`
}

function swatch(name: string): HtmlEscapedString {
  const shape =
    name === 'cached'
      ? html`<rect class="cached" x="5" y="0" width="8" height="10" />`
      : name === 'compaction'
        ? html`<path class="fold" d="M4 1 h10 l-5 6 z" />`
        : html`<path class="line ${name}" d="M0 5 H18" />`
  return html`<svg class="swatch" width="18" height="10" aria-hidden="true">${shape}</svg>`
}

/** The chart in a sentence. */
function alternative({ rows, firstNumber }: ChartOptions): string {
  const [first, last] = [rows[0], rows.at(-1)]
  if (first === undefined || last === undefined) return 'No request is on record.'
  const compactions = rows.filter((row) => row.compaction !== null).length
  const span = `Requests ${figure(firstNumber)} to ${figure(firstNumber + rows.length - 1)}.`
  const received = `Tokens in went from ${figure(first.tokens_received)} to ${figure(last.tokens_received)}`
  const sent = `tokens sent from ${figure(first.tokens_sent)} to ${figure(last.tokens_sent)}`
  const window = last.window_tokens === null ? '' : ` The window has ${figure(last.window_tokens)}.`
  return `${span} ${received}, ${sent}, with ${plural(compactions, 'compaction')}.${window} The table below has every figure.`
}

/** A piece of one request is drawn as a dot: the line has round ends. */
function outline(name: string, pieces: ChartGeometry['sent']): readonly HtmlEscapedString[] {
  return pieces.map((points) => {
    const path = points.map(({ x, y }, at) => `${at === 0 ? 'M' : 'L'}${x} ${y}`).join(' ')
    return html`<path class="line ${name}" d="${path}${points.length === 1 ? ' h0' : ''}" />`
  })
}

function level(name: string, line: LevelLine | null): readonly HtmlEscapedString[] {
  return (line?.steps ?? []).map(
    ({ x1, x2, y }) => html`<path class="line ${name}" d="M${x1} ${y} H${x2}" />`,
  )
}

/** What is told of a request under the pointer. */
function told(row: UsageRow, at: number, { firstNumber, now }: ChartOptions): string {
  const { tokens_are_bounds: isBound } = row
  return [
    `Request ${figure(firstNumber + at)}, ${clock(row.time, now)} UTC`,
    `${boundedFigure(row.tokens_received, isBound)} in, ${boundedFigure(row.tokens_sent, isBound)} sent`,
    ...(row.cached_tokens === null ? [] : [`${figure(row.cached_tokens)} from the cache`]),
    ...(row.compaction === null ? [] : [`Compaction: ${compactionReason(row.compaction)}`]),
  ].join('\n')
}

function share(x: number): string {
  return `${Math.round((x / chartWidth) * 10_000) / 100}%`
}
