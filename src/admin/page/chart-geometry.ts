import type { UsageRow } from '../../activity/journal/rows.ts'

/** `x` in parts of `chartWidth`, `y` in pixels from the top. */
type Point = { readonly x: number; readonly y: number }

/** Where everything lies. A line is a list of pieces: each a run of requests without a gap. */
export type ChartGeometry = ReturnType<typeof chartGeometry>

/** A level that may change from request to request, in flat pieces: the window, the budget. */
export type LevelLine = {
  /** Of the latest request. */
  readonly tokens: number
  readonly steps: readonly { readonly x1: number; readonly x2: number; readonly y: number }[]
}

/** The width that `x` is a part of. The drawing is stretched to the place that there is. */
export const chartWidth = 1000

/** Height of the drawing, and where the values begin and end in it, in pixels. */
export const chartHeight = 280
export const chartTop = 22
export const chartBottom = 256

/** Where everything lies, for the rows of a conversation, the oldest first. */
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
      of.map((tokens, at): Point => ({ x: x(from + at), y: y(tokens) })),
    )
  const level = (values: readonly (number | null)[]): LevelLine | null => {
    const steps = runs(values, (last, next) => last === next)
    const tokens = steps.at(-1)?.of[0]
    if (tokens === undefined) return null
    const stepOf = ({ from, of }: (typeof steps)[number]) => ({
      x1: tenths(from * band),
      x2: tenths((from + of.length) * band),
      y: y(of[0] ?? 0),
    })
    return { tokens, steps: steps.map(stepOf) }
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
    window: level(windows),
    budget: level(budgets),
    ticks: ticks.map((tokens) => ({ tokens, y: y(tokens) })),
    /** Requests that are named below, by their place among the rows. */
    marks: markedRows(rows.length).map((row) => ({ row, x: x(row) })),
  }
}

// --- internal ---

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
