/**
 * Whether anything false is believed of a model whose server reports honestly, in each of the ways that there are.
 *
 *   npm run usage [-- FOLDER [--file NAME]] [--window N] [--kind NAME] [--sample N] [--conversations N] [--workers N]
 *
 * FOLDER holds recorded conversations as `npm run replay` takes them; without it a few are made, for a short run. Each is walked
 * request by request through a Foldgate that knows nothing yet, before a server that counts and reports by one of the kinds in
 * `usage-kinds.ts`, or cuts as Ollama does:
 *
 *   set    the window stands in the settings, and the server takes anything: whatever is learnt is false
 *   auto   the server refuses what is beyond its window, in OpenAI's words: nothing else may be learnt
 *   ollama the server leaves out the oldest messages: with `auto` three requests may come out cut before `num_ctx` is in
 *          force; where the settings name more, the window stays and a warning is printed; where a gateway hides what
 *          it is, nothing is concluded
 *
 * Prints a row a kind and window, the warnings, and what was not kept; exits with 1 where there is such a thing.
 * `folded early`, `refused` and `count off by` show what counts are worth, and are asked of nobody.
 */
import { filesIn, oneOf, readCommand, refuse, runCommand, text, whole } from '../harness/command.ts'
import { alignedTable, grouped, sumOf } from '../harness/table.ts'
import { workersFor } from '../harness/workers.ts'
import {
  kindNames,
  ordersOf,
  runOrder,
  sizesOfField,
  sizesOfShortRun,
  type OrderReport,
  type Scenario,
  type TalkVerdict,
} from './orders.ts'

const workers = workersFor(runOrder)

const flags = {
  file: text(),
  window: whole(),
  kind: oneOf(kindNames()),
  sample: whole(12),
  conversations: whole(8),
  workers: whole(2),
}

async function runAll(args: readonly string[], elapsed: () => string): Promise<boolean> {
  const { folder, values } = readCommand(args, flags)
  const { file, kind, window: windowTokens, sample: requestsMax, conversations: talksMax } = values
  if (folder === null && file !== null) refuse('--file names a file of FOLDER; name that, too.')
  if (folder !== null) filesIn(folder, file === null ? null : [file])
  const sizes = folder === null ? sizesOfShortRun : sizesOfField
  const sampling = { requestsMax, talksMax }
  const orders = ordersOf(sizes, { kind, windowTokens }, { source: { folder, file }, sampling })
  const windows = [...sizes.windows, ...sizes.numContexts].join(', ')
  if (orders.length === 0) refuse(`Nothing has the window ${windowTokens}; there are ${windows}.`)

  const reports = await workers.inWorkers(orders, values.workers)
  process.stdout.write(tablesOf(reports) + warningLines(reports) + missLines(reports))
  const misses = verdictsOf(reports).flatMap((verdict) => verdict.misses)
  const figures = [
    `${grouped(sumOfAll(reports, 'requests'))} requests`,
    `windows learnt ${sumOfAll(reports, 'windowsLearnt')}`,
    `cuts concluded ${sumOfAll(reports, 'cutsConcluded')}`,
    `${misses.length} promises missed`,
    elapsed(),
  ]
  process.stdout.write(`\n${figures.join(', ')}\n`)
  return misses.length === 0
}

const tablesOf = (reports: readonly OrderReport[]): string =>
  Object.entries(columns)
    .map(([family, cells]) => {
      const own = reports.filter(({ order }) => order.family === family)
      const rows = [...Map.groupBy(own, ({ order }) => nameOf(order))]
      if (rows.length === 0) return ''
      const what = family === 'honest' ? 'kind and window' : 'kind and num_ctx'
      const head = [what, ...cells.map(([name]) => name)]
      const figures = rows.map(([name, some]) => [name, ...cells.map(([, cell]) => figureOf(some, cell))])
      return `\n${alignedTable([head, ...figures])}\n`
    })
    .join('')

function warningLines(reports: readonly OrderReport[]): string {
  const told = reports.flatMap(({ order, warnings }) => warnings.map((said) => ({ kind: order.kind, said })))
  const lines = [...Map.groupBy(told, ({ said }) => said)].map(([said, all]) => {
    const kinds = [...new Set(all.map(({ kind }) => kind))]
    return `  ${all.length} × ${said}\n    before ${kinds.join(', ')}\n`
  })
  return lines.length === 0 ? '' : `\nwarnings printed:\n${lines.join('')}`
}

function missLines(reports: readonly OrderReport[]): string {
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

const verdictsOf = (reports: readonly OrderReport[]) => reports.flatMap(({ verdicts }) => verdicts)
const sumOfAll = (reports: readonly OrderReport[], figure: Figure): number =>
  sumOf(verdictsOf(reports), (verdict) => verdict[figure])

type Figure = Exclude<keyof TalkVerdict, 'misses' | 'file' | 'talk'>
type Cell = Figure | ((verdicts: readonly TalkVerdict[], warnings: number) => string)
const SHOWN_MAX = 4
const conversations: Cell = (verdicts) => grouped(verdicts.length)
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
  if (typeof cell === 'string') return grouped(sumOfAll(reports, cell))
  const told = sumOf(reports, (report) => report.warnings.length)
  return cell(verdictsOf(reports), told)
}

function most(verdicts: readonly TalkVerdict[], figure: (verdict: TalkVerdict) => number): number {
  return Math.max(0, ...verdicts.map(figure))
}

function nameOf({ family, kind, windowTokens, configuredTokens }: Scenario): string {
  const set = configuredTokens === null ? 'auto' : family === 'honest' ? 'set' : `set to ${configuredTokens}`
  return `${kind} ${windowTokens} ${set}`
}

await runCommand(runAll, workers)
