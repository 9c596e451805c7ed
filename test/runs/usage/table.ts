import { alignedTable } from '../../support/aligned-table.ts'
import type { Scenario } from './orders.ts'
import type { OrderReport, TalkVerdict } from './run-order.ts'

/** A row for each kind and window, plain and streamed together. */
export function tablesOf(reports: readonly OrderReport[]): string {
  const rowsOf = (family: Scenario['family'], head: readonly string[], figures: Figures) => {
    const own = reports.filter(({ order }) => order.family === family)
    const rows = Map.groupBy(own, ({ order }) => nameOf(order))
    if (rows.size === 0) return ''
    return `\n${alignedTable([head, ...[...rows].map(([name, some]) => [name, ...figures(some)])])}\n`
  }
  return rowsOf('honest', honestHead, honestFigures) + rowsOf('ollama', ollamaHead, ollamaFigures)
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
export function sumOf(reports: readonly OrderReport[], figure: Figure): number {
  return reports.flatMap(({ verdicts }) => verdicts).reduce((sum, verdict) => sum + verdict[figure], 0)
}

// --- internal ---

type Figure = Exclude<keyof TalkVerdict, 'misses' | 'file' | 'talk'>
type Figures = (reports: readonly OrderReport[]) => readonly string[]

const SHOWN_MAX = 4

const honestHead = [
  'kind and window',
  'conversations',
  'requests',
  'windows learnt',
  'cuts concluded',
  'false windows',
  'folded early',
  'refused',
  'warnings',
  'count off by',
]

const ollamaHead = [
  'kind and num_ctx',
  'conversations',
  'requests',
  'cut',
  'most of one',
  'false windows',
  'folded early',
  'refused',
  'warnings',
  'missed',
]

function nameOf({ family, kind, windowTokens, configuredTokens }: Scenario): string {
  const set = configuredTokens === null ? 'auto' : family === 'honest' ? 'set' : `set to ${configuredTokens}`
  return `${kind} ${windowTokens} ${set}`
}

function honestFigures(reports: readonly OrderReport[]): readonly string[] {
  const verdicts = reports.flatMap((report) => report.verdicts)
  const worst = Math.max(0, ...verdicts.map(({ countErrorMax }) => countErrorMax))
  return [
    ...sums(reports, [
      'requests',
      'windowsLearnt',
      'cutsConcluded',
      'falseWindows',
      'foldedEarly',
      'refused',
    ]),
    String(warningsIn(reports)),
    `${(worst * 100).toFixed(1)} %`,
  ]
}

function ollamaFigures(reports: readonly OrderReport[]): readonly string[] {
  const verdicts = reports.flatMap((report) => report.verdicts)
  return [
    ...sums(reports, ['requests', 'cut']),
    String(Math.max(0, ...verdicts.map(({ cut }) => cut))),
    ...sums(reports, ['falseWindows', 'foldedEarly', 'refused']).slice(1),
    String(warningsIn(reports)),
    String(verdicts.filter(({ misses }) => misses.length > 0).length),
  ]
}

/** How many conversations there were, and these figures of them. */
function sums(reports: readonly OrderReport[], figures: readonly Figure[]): readonly string[] {
  const count = reports.reduce((sum, { verdicts }) => sum + verdicts.length, 0)
  return [count, ...figures.map((figure) => sumOf(reports, figure))].map((number) =>
    number.toLocaleString('en-US'),
  )
}

function warningsIn(reports: readonly OrderReport[]): number {
  return reports.reduce((sum, { warnings }) => sum + warnings.length, 0)
}
