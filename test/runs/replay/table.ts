import { addTo, alignedTable, grouped, seconds } from '../harness/table.ts'
import type { Failure, JobReport } from './jobs.ts'

const nothing = {
  requests: 0,
  rewritten: 0,
  tokensIn: 0,
  tokensSent: 0,
  tokensCached: 0,
  compactions: 0,
  recovered: 0,
  restored: 0,
  failedOpen: 0,
  // Upstream requests beyond the first.
  sentAgain: 0,
  // Refusals of a sequence; where the placement is to be found out, only of the one that was sent last.
  rejected: 0,
  // Answers that reached the client without being a reply.
  errors: 0,
  // Requests whose fixed parts alone exceed the budget.
  fixedTooLarge: 0,
  // Of conversations whose reasoning the upstream binds to what it was made on; see `watchThoughts`.
  reasoningLost: 0,
  reasoningLostAtOnce: 0,
  reasoningLostTwice: 0,
  // Replies of which only a part was sent.
  groupsBroken: 0,
  failures: 0,
}

export type Tally = typeof nothing
export const openTally = (): Tally => ({ ...nothing })

export function tableOf({ tallies, configuration, job, elapsedMs }: JobReport): string {
  const sum = openTally()
  for (const tally of Object.values(tallies)) addTo(sum, tally)
  const bindsReasoning = configuration.dialect !== 'chat-completions'
  const columns = bindsReasoning ? [...chatColumns, ...reasoningColumns] : chatColumns
  const cells = [
    ['file', ...columns.map(([head]) => head)],
    ...[...Object.entries(tallies), ['all', sum] as const].map(([name, tally]) => [
      name,
      ...columns.map(([, figure]) => (typeof figure === 'string' ? grouped(tally[figure]) : figure(tally))),
    ]),
  ]
  return `\n${job} (${seconds(elapsedMs)})\n${alignedTable(cells)}\n`
}

export const comparisonLine = (report: JobReport): string =>
  `${report.job}: ${report.equal} of ${report.compared} alike (${seconds(report.elapsedMs)})\n`

export function failureLines(failures: readonly Failure[]): string {
  const kinds = Map.groupBy(failures, ({ job, check }) => `${check} (${job})`)
  const lines = [...kinds].flatMap(([kind, all]) => [
    `\n${all.length} × ${kind}`,
    ...all.slice(0, SHOWN_MAX).map(({ file, conversation, variant, mode, point, detail }) => {
      return `  ${file} ${conversation} (${variant}, ${mode}) at ${point}: ${detail}`
    }),
    ...(all.length > SHOWN_MAX ? [`  and ${all.length - SHOWN_MAX} more`] : []),
  ])
  return lines.map((line) => `${line}\n`).join('')
}

const SHOWN_MAX = 8
type Column = readonly [head: string, figure: keyof Tally | ((tally: Tally) => string)]

const chatColumns: readonly Column[] = [
  ['requests', 'requests'],
  ['rewritten', 'rewritten'],
  ['tokens in', 'tokensIn'],
  ['sent', 'tokensSent'],
  ['cache hits', ({ tokensCached, tokensSent }) => `${percent(tokensCached, tokensSent)} %`],
  ['compactions/100', ({ compactions, requests }) => percent(compactions, requests)],
  ['recovered', 'recovered'],
  ['restored', 'restored'],
  ['sent again', 'sentAgain'],
  ['failed open', 'failedOpen'],
  ['rejected', 'rejected'],
  ['errors', 'errors'],
  ['too large', 'fixedTooLarge'],
  ['failures', 'failures'],
]

const reasoningColumns: readonly Column[] = [
  ['reasoning lost', 'reasoningLost'],
  ['at once', 'reasoningLostAtOnce'],
  ['twice', 'reasoningLostTwice'],
  ['groups broken', 'groupsBroken'],
]

function percent(part: number, all: number): string {
  return (all === 0 ? 0 : (100 * part) / all).toFixed(1)
}
