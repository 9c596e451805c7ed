import type { Explanation, TokensByCategory } from '../explanation.ts'
import { grouped } from '../../../log/grouped.ts'
import { painted, type Paper } from './ink.ts'

/** What the tokens stand for: what came and what would be sent, side by side on one scale. */
export function drawBars({ tokens }: Pick<Explanation, 'tokens'>, paper: Paper): readonly string[] {
  const { received, sent } = tokens
  const shown = categories.filter(([name]) => {
    const most = Math.max(received[name], sent[name])
    return name === 'other' ? most > OTHER_MIN_TOKENS : most > 0
  })
  const most = Math.max(1, ...shown.flatMap(([name]) => [received[name], sent[name]]))
  const figureColumns = Math.max(MIN_FIGURE_COLUMNS, grouped(received.total).length)
  const besideColumns = LABEL_COLUMNS + 2 * (figureColumns + GAP)
  const barColumns = Math.min(BAR_COLUMNS_MAX, Math.floor((paper.columns - besideColumns - 2 * GAP) / 2))
  const isWide = barColumns >= BAR_COLUMNS_MIN
  const columns = isWide ? barColumns : 0
  const row = (label: string, { before, after }: Pair, drawn: Pair): string => {
    const first = painted(paper, 'yellow', drawn.before) + ' '.repeat(columns - drawn.before.length)
    const second = painted(paper, 'green', drawn.after)
    return `${label.padEnd(LABEL_COLUMNS)}${before.padStart(figureColumns)}  ${first}${isWide ? '  ' : ''}${after.padStart(figureColumns)}  ${second}`
  }
  const figures = (name: keyof TokensByCategory) => ({
    before: grouped(received[name]),
    after: grouped(sent[name]),
  })
  return [
    painted(paper, 'dim', row('tokens', { before: 'came', after: 'sent' }, nothing).trimEnd()),
    ...shown.map(([name, label]) =>
      row(label, figures(name), {
        before: barOf(received[name] / most, columns),
        after: barOf(sent[name] / most, columns),
      }),
    ),
    painted(paper, 'bold', row('total', figures('total'), nothing).trimEnd()),
  ]
}

// --- internal ---

const LABEL_COLUMNS = 14
const MIN_FIGURE_COLUMNS = 7
const GAP = 2
const BAR_COLUMNS_MAX = 40
/** A shorter bar says nothing. */
const BAR_COLUMNS_MIN = 6

/** What primes the reply is no row of its own. */
const OTHER_MIN_TOKENS = 8

const categories = [
  ['system', 'system'],
  ['tools', 'tools'],
  ['user', 'user'],
  ['assistant', 'assistant'],
  ['tool_results', 'tool results'],
  ['images', 'media'],
  ['summary', 'summaries'],
  ['other', 'other'],
] as const satisfies readonly (readonly [keyof TokensByCategory, string])[]

/** For what came, and for what would be sent. */
type Pair = { readonly before: string; readonly after: string }

const nothing: Pair = { before: '', after: '' }

/** Block characters, an eighth of a column to a full one. */
const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'] as const

function barOf(share: number, columns: number): string {
  const parts = Math.round(Math.max(0, Math.min(1, share)) * columns * eighths.length)
  // Whatever is there is seen.
  const least = share > 0 && columns > 0 ? Math.max(1, parts) : parts
  return '█'.repeat(Math.floor(least / eighths.length)) + (eighths[least % eighths.length] ?? '')
}
