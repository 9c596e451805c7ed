import type { UsageRow } from '../../telemetry/journal/rows.ts'
import { compactionReason } from '../told-words.ts'
import { boundedFigure, clock, figure, html, type HtmlEscapedString, plural, shortFigure } from './markup.ts'

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
          ${outline('window', geometry.window?.pieces)} ${outline('budget', geometry.budget?.pieces)}
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

/**
 * Where everything lies, `x` in parts of `chartWidth`, `y` in pixels from the top. A line is a list of pieces: each a run of
 * requests without a gap.
 */
type ChartGeometry = ReturnType<typeof chartGeometry>

/** A level that may change from request to request, in flat pieces: the window, the budget. */
type LevelLine = ChartGeometry['window']

/** @internal exported for tests. The width that `x` is a part of. The drawing is stretched to the place that there is. */
export const chartWidth = 1000

/** Height of the drawing, and where the values begin and end in it, in pixels. */
const chartHeight = 280
/** @internal exported for tests. */
export const chartTop = 22
/** @internal exported for tests. */
export const chartBottom = 256

/** @internal exported for tests. Where everything lies, for the rows of a conversation, the oldest first. */
export function chartGeometry(rows: readonly UsageRow[]) {
  const received = rows.map((row) => countedTokens(row, row.tokens_received))
  const sent = rows.map((row) => countedTokens(row, row.tokens_sent))
  const cached = rows.map((row) => row.cached_tokens)
  const dataMax = Math.max(1, ...[received, sent, cached].flat().map((tokens) => tokens ?? 0))
  // A level far above the data is left out: these would lie flat.
  const drawn = (levels: readonly (number | null)[]) =>
    levels.some((level) => (level ?? 0) > dataMax * LEVEL_FACTOR_MAX) ? levels.map(() => null) : levels
  const windows = drawn(rows.map((row) => row.window_tokens))
  const budgets = drawn(rows.map((row) => row.budget_tokens))
  const ticks = tickValues(Math.max(dataMax, ...[...windows, ...budgets].map((level) => level ?? 0)))
  const top = ticks.at(-1) ?? 1
  const band = chartWidth / Math.max(rows.length, 1)
  const x = (row: number) => tenths((row + 0.5) * band)
  const y = (tokens: number) => tenths(chartBottom - (tokens / top) * (chartBottom - chartTop))
  const pieces = (values: readonly (number | null)[]) =>
    runs(values, () => true).map(({ from, of }) =>
      of.map((tokens, at) => ({ x: x(from + at), y: y(tokens) })),
    )
  const levelLine = (values: readonly (number | null)[]) => {
    const steps = runs(values, (last, next) => last === next)
    const tokens = steps.at(-1)?.of[0]
    if (tokens === undefined) return null
    const flat = ({ from, of }: (typeof steps)[number]) =>
      [from, from + of.length].map((edge) => ({ x: tenths(edge * band), y: y(of[0] ?? 0) }))
    // The tokens are those of the latest request.
    return { tokens, pieces: steps.map(flat) }
  }
  return {
    /** Width of one request. */
    band,
    received: pieces(received),
    sent: pieces(sent),
    /** Tokens that the provider read from its cache, one bar a request. */
    cached: cached.flatMap((tokens, at) => ((tokens ?? 0) > 0 ? [{ x: x(at), y: y(tokens ?? 0) }] : [])),
    /** Where compactions were made. */
    compactions: rows.flatMap((row, at) => (row.compaction === null ? [] : [x(at)])),
    window: levelLine(windows),
    budget: levelLine(budgets),
    ticks: ticks.map((tokens) => ({ tokens, y: y(tokens) })),
    /** Requests that are named below, by their place among the rows. */
    marks: markedRows(rows.length).map((row) => ({ row, x: x(row) })),
  }
}

// --- internal ---

/** What the lines and marks stand for; a level that is too far above the chart to be drawn is told here. */
function legend(
  latest: UsageRow | undefined,
  { window, budget, compactions, cached }: ChartGeometry,
): HtmlEscapedString {
  const key = (name: string, tokens: number | null, line: LevelLine) => {
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
function outline(name: string, pieces: ChartGeometry['sent'] = []): readonly HtmlEscapedString[] {
  return pieces.map((points) => {
    const path = points.map(({ x, y }, at) => `${at === 0 ? 'M' : 'L'}${x} ${y}`).join(' ')
    return html`<path class="line ${name}" d="${path}${points.length === 1 ? ' h0' : ''}" />`
  })
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

/** How many times the largest count a window may be to be drawn. */
const LEVEL_FACTOR_MAX = 3

/** What was not counted was sent as it came, and mostly the provider says how large it was. */
function countedTokens(row: UsageRow, own: number | null): number | null {
  return row.tokens_are_bounds ? (row.prompt_tokens ?? own) : own
}

/** Neighbours that are known and belong together, with the place of the first. A line over a gap would make something up. */
function runs(
  values: readonly (number | null)[],
  belongTogether: (last: number, next: number) => boolean,
): readonly { readonly from: number; readonly of: readonly number[] }[] {
  const found: { from: number; of: number[] }[] = []
  for (const [at, value] of values.entries()) {
    if (value === null) continue
    const last = found.at(-1)
    const joins =
      last?.from === at - (last?.of.length ?? 0) && belongTogether(last?.of.at(-1) ?? value, value)
    if (joins) last?.of.push(value)
    else found.push({ from: at, of: [value] })
  }
  return found
}

/** Round figures from 0 to the first that is not below `max`: four or five of them. */
function tickValues(max: number): readonly number[] {
  const raw = max / 4
  const power = 10 ** Math.floor(Math.log10(raw))
  const step = Math.max(1, ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= raw) ?? 10) * power)
  return Array.from({ length: Math.ceil(max / step) + 1 }, (_, at) => at * step)
}

/** First, last, and a few between, evenly. */
function markedRows(rows: number): readonly number[] {
  const gaps = Math.min(rows - 1, 4)
  if (gaps < 1) return rows === 0 ? [] : [0]
  return Array.from({ length: gaps + 1 }, (_, at) => Math.round((at * (rows - 1)) / gaps))
}

function tenths(value: number): number {
  return Math.round(value * 10) / 10
}
