import type { UsageRow } from '../../activity/journal/rows.ts'

/** A line through the requests: each piece is a run of requests without a gap, as points. */
export type Line = readonly (readonly Point[])[]

/** `x` in parts of `chartWidth`, `y` in pixels from the top. */
export type Point = { readonly x: number; readonly y: number }

/** A level that may change from request to request: the window, the budget. */
export type LevelLine = {
  readonly tokens: number
  /** Flat pieces, from `x1` to `x2`. */
  readonly steps: readonly { readonly x1: number; readonly x2: number; readonly y: number }[]
}

export type ChartGeometry = {
  /** Width of one request. */
  readonly band: number
  readonly received: Line
  readonly sent: Line
  /** Tokens that the provider read from its cache, one bar a request. */
  readonly cached: readonly (Point & { readonly height: number })[]
  /** Where compactions were made. */
  readonly compactions: readonly { readonly row: number; readonly x: number }[]
  /** Null where there is none, or where it lies so far above the data that these would vanish. */
  readonly window: LevelLine | null
  readonly budget: LevelLine | null
  readonly ticks: readonly { readonly tokens: number; readonly y: number }[]
  /** Requests that are named below, by their place among the rows. */
  readonly marks: readonly { readonly row: number; readonly x: number }[]
}

/** The width that `x` is a part of. The drawing is stretched to the place that there is. */
export const chartWidth = 1000

/** Height of the drawing, and where the values begin and end in it, in pixels. */
export const chartHeight = 280
export const chartTop = 22
export const chartBottom = 256

/** Where everything lies, for the rows of a conversation, the oldest first. */
export function chartGeometry(rows: readonly UsageRow[]): ChartGeometry {
  const dataMax = Math.max(
    1,
    ...rows.flatMap((row) => [receivedIn(row) ?? 0, sentIn(row) ?? 0, row.cached_tokens ?? 0]),
  )
  const shown = (levels: readonly (number | null)[]) =>
    levels.every((level) => level === null || level <= dataMax * levelFactorMax)
  const windows = rows.map((row) => row.window_tokens)
  const budgets = rows.map((row) => row.budget_tokens)
  const levels = [windows, budgets].filter(shown).flat()
  const ticks = tickValues(Math.max(dataMax, ...levels.map((level) => level ?? 0)))
  const top = ticks.at(-1) ?? 1
  const band = chartWidth / Math.max(rows.length, 1)
  const x = (row: number) => rounded((row + 0.5) * band)
  const y = (tokens: number) => rounded(chartBottom - (tokens / top) * (chartBottom - chartTop))
  const line = (valueOf: (row: UsageRow) => number | null) =>
    pieces(rows.map((row, at) => pointOf(valueOf(row), x(at), y)))
  const level = (values: readonly (number | null)[]) => (shown(values) ? levelLine(values, band, y) : null)

  return {
    band,
    received: line(receivedIn),
    sent: line(sentIn),
    cached: rows.flatMap(({ cached_tokens: tokens }, at) =>
      tokens === null || tokens === 0 ? [] : [{ x: x(at), y: y(tokens), height: chartBottom - y(tokens) }],
    ),
    compactions: rows.flatMap((row, at) => (row.compaction === null ? [] : [{ row: at, x: x(at) }])),
    window: level(windows),
    budget: level(budgets),
    ticks: ticks.map((tokens) => ({ tokens, y: y(tokens) })),
    marks: markedRows(rows.length).map((row) => ({ row, x: x(row) })),
  }
}

// --- internal ---

/** How many times the largest count a window may be to be drawn. */
const levelFactorMax = 3

/** What was not counted was sent as it came, and mostly the provider says how large it was. */
function receivedIn(row: UsageRow): number | null {
  return row.tokens_are_bounds ? (row.prompt_tokens ?? row.tokens_received) : row.tokens_received
}

function sentIn(row: UsageRow): number | null {
  return row.tokens_are_bounds ? (row.prompt_tokens ?? row.tokens_sent) : row.tokens_sent
}

function pointOf(tokens: number | null, x: number, y: (tokens: number) => number): Point | null {
  return tokens === null ? null : { x, y: y(tokens) }
}

/** Splits at what is not known: a line over a gap would make something up. */
function pieces(points: readonly (Point | null)[]): Line {
  const found: Point[][] = []
  let isOpen = false
  for (const point of points) {
    if (point === null) {
      isOpen = false
      continue
    }
    if (isOpen) found.at(-1)?.push(point)
    else found.push([point])
    isOpen = true
  }
  return found
}

/** Null where no request has the level. */
function levelLine(
  values: readonly (number | null)[],
  band: number,
  y: (tokens: number) => number,
): LevelLine | null {
  const steps: { tokens: number; from: number; to: number }[] = []
  for (const [at, tokens] of values.entries()) {
    if (tokens === null) continue
    const last = steps.at(-1)
    if (last !== undefined && last.to === at && last.tokens === tokens) last.to = at + 1
    else steps.push({ tokens, from: at, to: at + 1 })
  }
  const latest = steps.at(-1)
  if (latest === undefined) return null
  return {
    tokens: latest.tokens,
    steps: steps.map((step) => ({
      x1: rounded(step.from * band),
      x2: rounded(step.to * band),
      y: y(step.tokens),
    })),
  }
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

function rounded(value: number): number {
  return Math.round(value * 10) / 10
}
