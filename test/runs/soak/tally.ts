import type { Visit } from './visit.ts'

/** How often visits of each kind ended how. */
export type Tally = ReadonlyMap<string, ReadonlyMap<string, number>>

export type OpenTally = {
  readonly add: (visit: Visit, outcome: string) => void
  readonly counts: Tally
}

export function openTally(): OpenTally {
  const counts = new Map<string, Map<string, number>>()
  return {
    add: function add({ kind, manner }, outcome) {
      for (const row of [kind, `client ${manner}`, 'all']) {
        const cells = counts.get(row) ?? new Map<string, number>()
        counts.set(row, cells)
        cells.set(outcome, (cells.get(outcome) ?? 0) + 1)
      }
    },
    counts,
  }
}

/** A table: what was sent, and what became of it. */
export function linesOf(tally: Tally): string {
  const outcomes = [...(tally.get('all')?.keys() ?? [])].toSorted()
  const rows = [...tally.keys()].toSorted((one, other) =>
    one === 'all' ? 1 : other === 'all' ? -1 : one.localeCompare(other),
  )
  const cells = (row: string) => outcomes.map((outcome) => String(tally.get(row)?.get(outcome) ?? 0))
  const width = Math.max(...rows.map((row) => row.length))
  const line = (name: string, values: readonly string[]) =>
    name.padEnd(width) +
    values.map((value, column) => value.padStart((outcomes[column] ?? '').length + 2)).join('')
  return [line('', outcomes), ...rows.map((row) => line(row, cells(row)))].join('\n')
}
