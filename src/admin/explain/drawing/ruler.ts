import type { Explanation } from '../explanation.ts'
import { grouped } from '../../../log/grouped.ts'
import { shareText } from '../figures.ts'
import { painted, type Paper } from './ink.ts'

/** The budget as a ruler: filled as far as what would be sent, with where everything begins. */
export function drawRuler(explanation: Explanation, paper: Paper): readonly string[] {
  const { budget, margin, would } = explanation
  const end = Math.max(1, budget - margin)
  const columns = Math.max(MIN_COLUMNS, Math.min(paper.columns, MAX_COLUMNS))
  const columnOf = (at: number): number => Math.min(columns - 1, Math.round((at / end) * (columns - 1)))
  const marks = marksOf(explanation, end)
  const filled = columnOf(would.sent_tokens)
  const axis = Array.from({ length: columns }, (_, at): string => (at <= filled ? '━' : '─'))
  for (const { at } of marks) axis[columnOf(at)] = columnOf(at) <= filled ? '┯' : '┬'
  const line = painted(paper, 'green', axis.slice(0, filled + 1).join('')) + axis.slice(filled + 1).join('')
  const labels = placed(
    marks.map(({ at, label }) => ({ column: columnOf(at), label: `${label} ${grouped(at)}` })),
    columns,
  )
  const held = margin === 0 ? '' : `, less ${grouped(margin)} for how tools may be shown`
  const share = shareText(would.sent_tokens / end)
  const title = `what is sent takes ${share} the budget of ${grouped(budget)}${held}`
  return [painted(paper, 'dim', title), line, ...labels.map((text) => painted(paper, 'dim', text))]
}

// --- internal ---

const MIN_COLUMNS = 40
const MAX_COLUMNS = 120

type Mark = { readonly at: number; readonly label: string }

/** Everything that has a place of its own; what begins with the trigger is not named again. */
function marksOf({ thresholds, fixed }: Explanation, end: number): readonly Mark[] {
  const { trigger, target } = thresholds
  const passes = [
    ['render', thresholds.render_at],
    ['preview', thresholds.preview_at],
    ['clear', thresholds.clear_at],
    ['fold', thresholds.fold_at],
    ['summary', thresholds.summary_at],
  ] as const
  const named = new Map<number, string>()
  const add = (label: string, at: number | null): void => {
    if (at === null) return
    const standing = named.get(at)
    named.set(at, standing === undefined ? label : `${standing}, ${label}`)
  }
  // What is fixed may not fit; a warning says so then.
  if (fixed.tokens <= end) add('fixed', fixed.tokens)
  add('target', target)
  add('trigger', trigger)
  for (const [name, at] of passes) if (at !== trigger) add(name, at)
  return [...named].map(([at, label]) => ({ at, label })).sort((one, other) => one.at - other.at)
}

/** Labels under their marks, in as few lines as they need. */
function placed(
  labels: readonly { readonly column: number; readonly label: string }[],
  columns: number,
): readonly string[] {
  const lines: string[] = []
  for (const { column, label } of labels) {
    const fits = column + 2 + label.length <= columns
    const text = fits ? `└ ${label}` : `${label} ┘`
    const start = fits ? column : Math.max(0, column + 1 - text.length)
    const free = lines.findIndex((line) => line.length < start || (line === '' && start === 0))
    const at = free === -1 ? lines.length : free
    lines[at] = `${(lines[at] ?? '').padEnd(start)}${text}`
  }
  return lines
}
