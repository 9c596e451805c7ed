import { alignedTable, count, sumOf } from '../harness/table.ts'
import type { OrderReport, Scenario, TalkVerdict } from './orders.ts'

/** A row for each kind and window, plain and streamed together. */
export function tablesOf(reports: readonly OrderReport[]): string {
  return Object.entries(columns)
    .map(([family, cells]) => {
      const own = reports.filter(({ order }) => order.family === family)
      const rows = [...Map.groupBy(own, ({ order }) => nameOf(order))]
      if (rows.length === 0) return ''
      const head = [
        family === 'honest' ? 'kind and window' : 'kind and num_ctx',
        ...cells.map(([name]) => name),
      ]
      const figures = rows.map(([name, some]) => [name, ...cells.map(([, cell]) => figureOf(some, cell))])
      return `\n${alignedTable([head, ...figures])}\n`
    })
    .join('')
}

/** Each warning once, with the kinds before which it was printed. */
export function warningLines(reports: readonly OrderReport[]): string {
  const told = reports.flatMap(({ order, warnings }) => warnings.map((text) => ({ kind: order.kind, text })))
  const lines = [...Map.groupBy(told, ({ text }) => text)].map(([text, all]) => {
    const kinds = [...new Set(all.map(({ kind }) => kind))]
    return `  ${all.length} × ${text}\n    before ${kinds.join(', ')}\n`
  })
  return lines.length === 0 ? '' : `\nwarnings printed:\n${lines.join('')}`
}

/** What was not kept, a few of each kind. */
export function missLines(reports: readonly OrderReport[]): string {
  const all = reports.flatMap(({ order, verdicts }) =>
    verdicts.flatMap((verdict) => verdict.misses.map((miss) => ({ order, verdict, miss }))),
  )
  const lines = [...Map.groupBy(all, ({ order }) => nameOf(order))].map(([name, some]) => {
    const shown = some.slice(0, SHOWN_MAX).map(({ order, verdict, miss }) => {
      const mode = order.isStreamed ? 'streamed' : 'plain'
      return `  ${verdict.file} ${verdict.talk} (${mode}): ${miss}\n`
    })
    const more = some.length > SHOWN_MAX ? `  and ${some.length - SHOWN_MAX} more\n` : ''
    return `\n${some.length} × ${name}\n${shown.join('')}${more}`
  })
  return lines.join('')
}

/** A figure of all conversations together. */
export function sumOfAll(reports: readonly OrderReport[], figure: Figure): number {
  return sumOf(
    reports.flatMap(({ verdicts }) => verdicts),
    (verdict) => verdict[figure],
  )
}

// --- internal ---

type Figure = Exclude<keyof TalkVerdict, 'misses' | 'file' | 'talk'>
type Cell = Figure | ((verdicts: readonly TalkVerdict[], warnings: number) => string)

const SHOWN_MAX = 4

const conversations: Cell = (verdicts) => count(verdicts.length)
const warnings: Cell = (_, told) => String(told)
const columns: Readonly<Record<string, readonly (readonly [string, Cell])[]>> = {
  honest: [
    ['conversations', conversations],
    ['requests', 'requests'],
    ['windows learnt', 'windowsLearnt'],
    ['cuts concluded', 'cutsConcluded'],
    ['false windows', 'falseWindows'],
    ['folded early', 'foldedEarly'],
    ['refused', 'refused'],
    ['warnings', warnings],
    ['count off by', (all) => `${(100 * most(all, ({ countErrorMax }) => countErrorMax)).toFixed(1)} %`],
  ],
  ollama: [
    ['conversations', conversations],
    ['requests', 'requests'],
    ['cut', 'cut'],
    ['most of one', (all) => String(most(all, ({ cut }) => cut))],
    ['false windows', 'falseWindows'],
    ['folded early', 'foldedEarly'],
    ['refused', 'refused'],
    ['warnings', warnings],
    ['missed', (all) => String(all.filter(({ misses }) => misses.length > 0).length)],
  ],
}

function figureOf(reports: readonly OrderReport[], cell: Cell): string {
  if (typeof cell === 'string') return count(sumOfAll(reports, cell))
  const told = sumOf(reports, (report) => report.warnings.length)
  return cell(
    reports.flatMap(({ verdicts }) => verdicts),
    told,
  )
}

function most(verdicts: readonly TalkVerdict[], figure: (verdict: TalkVerdict) => number): number {
  return Math.max(0, ...verdicts.map(figure))
}

function nameOf({ family, kind, windowTokens, configuredTokens }: Scenario): string {
  const set = configuredTokens === null ? 'auto' : family === 'honest' ? 'set' : `set to ${configuredTokens}`
  return `${kind} ${windowTokens} ${set}`
}
