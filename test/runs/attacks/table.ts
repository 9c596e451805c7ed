import { alignedTable } from '../../support/aligned-table.ts'
import { megabytes, type Blow } from './run-attack.ts'

/** An attack with all that came of it. */
export type Row = {
  readonly name: string
  readonly blows: readonly Blow[]
  /** What the neighbour took while nobody attacked, in milliseconds. */
  readonly quietMs: number
}

/** A line for each attack: the worst of all manners. */
export function tableOf(rows: readonly Row[]): string {
  return alignedTable([columns, ...rows.map(cellsOf)])
}

/** The blow that held the loop for longest, garbage left out; null where none has told. */
export function worstOf(blows: readonly Blow[]) {
  const told = blows.flatMap(({ manner, loop }) => (loop === null ? [] : [{ manner, ...loop }]))
  return told.reduce<(typeof told)[number] | null>(
    (one, other) =>
      one === null || gapOf(other.longestWithoutGarbage) > gapOf(one.longestWithoutGarbage) ? other : one,
    null,
  )
}

// --- internal ---

const columns = [
  'attack',
  'bytes sent',
  'longest turn, ms',
  'and garbage, ms',
  'in which manner',
  'what was done',
  'neighbour answered',
  'refused',
  'median, × quiet',
  'longest, ms',
  'peak MB',
  'runs',
  '',
]

function cellsOf({ name, blows, quietMs }: Row): string[] {
  const worst = worstOf(blows)
  const gap = worst?.longestWithoutGarbage
  const whole = Math.max(0, ...blows.map(({ loop }) => loop?.longest.workMs ?? 0))
  const slowest = blows.reduce((one, other) =>
    other.neighbour.medianMs > one.neighbour.medianMs ? other : one,
  )
  const last = blows.at(-1)
  return [
    name,
    String(Math.max(...blows.map(({ bytes }) => bytes))),
    gap === undefined ? '–' : Math.round(gap.workMs - gap.garbageMs).toString(),
    Math.round(whole).toString(),
    worst?.manner ?? '–',
    [...new Set(blows.flatMap(({ fates }) => fates))].join(' ').slice(0, 50),
    String(blows.reduce((sum, { neighbour }) => sum + neighbour.answered, 0)),
    String(blows.reduce((sum, { neighbour }) => sum + neighbour.failures.length, 0)),
    (slowest.neighbour.medianMs / quietMs).toFixed(1),
    Math.round(Math.max(...blows.map(({ neighbour }) => neighbour.longestMs))).toString(),
    megabytes(Math.max(0, ...blows.map(({ memoryBytes }) => memoryBytes ?? 0))),
    last?.wrong.some((each) => each.startsWith('ended')) === true ? 'no' : 'yes',
    blows.every(({ wrong }) => wrong.length === 0) ? 'passed' : 'failed',
  ]
}

function gapOf({ workMs, garbageMs }: { readonly workMs: number; readonly garbageMs: number }): number {
  return workMs - garbageMs
}
