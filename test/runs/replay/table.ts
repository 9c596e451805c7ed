import { alignedTable } from '../../support/aligned-table.ts'
import type { Failure, JobReport } from './job.ts'
import { addTally, openTally, type Tally } from './tally.ts'

/** The table of a replay: a row a file, and their sum. */
export function tableOf(report: JobReport): string {
  const sum = openTally()
  for (const tally of Object.values(report.tallies)) addTally(sum, tally)
  const rows = [...Object.entries(report.tallies), ['all', sum] as const]
  const bindsReasoning = report.configuration.dialect !== 'chat-completions'
  const head = bindsReasoning ? [...HEAD, ...REASONING_HEAD] : HEAD
  const cells = [
    head,
    ...rows.map(([name, tally]) => [
      name,
      ...figures(tally),
      ...(bindsReasoning ? reasoningFigures(tally) : []),
    ]),
  ]
  return `\n${report.job} (${seconds(report.elapsedMs)})\n${alignedTable(cells)}\n`
}

/** What a comparing job found, in a line. */
export function comparisonLine(report: JobReport): string {
  return `${report.job}: ${report.equal} of ${report.compared} alike (${seconds(report.elapsedMs)})\n`
}

/** The failures, most of a kind left out. */
export function failureLines(failures: readonly Failure[]): string {
  const kinds = Map.groupBy(failures, ({ job, check }) => `${check} (${job})`)
  const lines: string[] = []
  for (const [kind, all] of kinds) {
    lines.push(`\n${all.length} × ${kind}`)
    for (const failure of all.slice(0, SHOWN_MAX)) {
      const { file, conversation, variant, mode, point, detail } = failure
      lines.push(`  ${file} ${conversation} (${variant}, ${mode}) at ${point}: ${detail}`)
    }
    if (all.length > SHOWN_MAX) lines.push(`  and ${all.length - SHOWN_MAX} more`)
  }
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`
}

export function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`
}

// --- internal ---

const SHOWN_MAX = 8

const HEAD = [
  'file',
  'requests',
  'rewritten',
  'tokens in',
  'sent',
  'cache hits',
  'compactions/100',
  'recovered',
  'restored',
  'sent again',
  'failed open',
  'rejected',
  'errors',
  'too large',
  'failures',
]

const REASONING_HEAD = ['reasoning lost', 'at once', 'twice', 'groups broken']

function figures(tally: Tally): readonly string[] {
  const share = tally.tokensSent === 0 ? 0 : (100 * tally.tokensCached) / tally.tokensSent
  const compactions = tally.requests === 0 ? 0 : (100 * tally.compactions) / tally.requests
  return [
    count(tally.requests),
    count(tally.rewritten),
    count(tally.tokensIn),
    count(tally.tokensSent),
    `${share.toFixed(1)} %`,
    compactions.toFixed(1),
    count(tally.recovered),
    count(tally.restored),
    count(tally.sentAgain),
    count(tally.failedOpen),
    count(tally.rejected),
    count(tally.errors),
    count(tally.fixedTooLarge),
    count(tally.failures),
  ]
}

function reasoningFigures(tally: Tally): readonly string[] {
  const { reasoningLost, reasoningLostAtOnce, reasoningLostTwice, groupsBroken } = tally
  return [reasoningLost, reasoningLostAtOnce, reasoningLostTwice, groupsBroken].map(count)
}

function count(number: number): string {
  return number.toLocaleString('en-US')
}
