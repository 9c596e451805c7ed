import { alignedTable } from '../../support/aligned-table.ts'
import type { TargetReport } from './run-target.ts'

/** The fuzz counts: a row a target, and below it what became of its inputs. */
export function tableOf(reports: readonly TargetReport[]): string {
  const sum: Figures = {
    inputs: reports.reduce((all, { inputs }) => all + inputs, 0),
    failures: reports.filter(({ failure }) => failure !== null).length,
    slowestMs: Math.max(...reports.map(({ slowestMs }) => slowestMs)),
    elapsedMs: reports.reduce((all, { elapsedMs }) => all + elapsedMs, 0),
  }
  const rows = [
    ['target', 'inputs', 'failures', 'slowest', 'time'],
    ...reports.map((report) => row(report.name, { ...report, failures: report.failure === null ? 0 : 1 })),
    row('all', sum),
  ]
  return `${alignedTable(rows)}\n\n${reports.map(fatesOf).join('\n')}\n`
}

/** What failed, and how it is tried again. */
export function failureLines({ name, failure }: TargetReport): string {
  if (failure === null) return ''
  const { seed, path, input, error } = failure
  const again = `npm run fuzz -- --target ${name} --seed ${seed}`
  return [
    `\n${name}: ${error}`,
    `  input: ${input.slice(0, INPUT_CHARS_MAX)}${input.length > INPUT_CHARS_MAX ? ' …' : ''}`,
    `  again: ${again} --path ${path}`,
    `  if that passes, it takes what came before: ${again}`,
    '',
  ].join('\n')
}

// --- internal ---

const INPUT_CHARS_MAX = 4_000

type Figures = Pick<TargetReport, 'inputs' | 'slowestMs' | 'elapsedMs'> & { readonly failures: number }

function row(name: string, { inputs, failures, slowestMs, elapsedMs }: Figures): readonly string[] {
  const slowest = `${Math.round(slowestMs).toLocaleString('en-US')} ms`
  return [
    name,
    inputs.toLocaleString('en-US'),
    String(failures),
    slowest,
    `${(elapsedMs / 1_000).toFixed(1)} s`,
  ]
}

function fatesOf({ name, fates }: TargetReport): string {
  const sorted = [...fates].toSorted(([, one], [, other]) => other - one)
  return `${name}: ${sorted.map(([fate, count]) => `${fate} ${count.toLocaleString('en-US')}`).join(', ')}`
}
