/** Rows of cells in columns: the first is a name, the others are figures. The first row is the head. */
export function alignedTable(rows: readonly (readonly string[])[]): string {
  const [head = []] = rows
  const widths = head.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows
    .map((row) =>
      row
        .map((cell, column) =>
          column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
        )
        .join('  '),
    )
    .join('\n')
}

/** A column for each run, a row for each figure. */
export function runsTable<Run>(
  runs: readonly { readonly name: string; readonly run: Run }[],
  cells: readonly (readonly [name: string, cell: (run: Run) => string])[],
): string {
  const rows = cells.map(([name, cell]) => [name, ...runs.map(({ run }) => cell(run))])
  return alignedTable([['', ...runs.map(({ name }) => name)], ...rows])
}

/** Rounded, with commas between thousands. */
export const grouped = (number: number): string => Math.round(number).toLocaleString('en-US')

export const seconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(1)} s`

/** In percent, rounded down, so that 100 is all and 95 is enough; of nothing, a dash. */
export const shareOf = (part: number, all: number): string =>
  all === 0 ? '–' : `${(Math.floor((1000 * part) / all) / 10).toFixed(1)} %`

/** Adds one tally's figures to another's. */
export function addTo(sums: Record<string, number>, figures: Readonly<Record<string, number | undefined>>) {
  for (const [name, figure] of Object.entries(figures)) sums[name] = (sums[name] ?? 0) + (figure ?? 0)
}

export const sumOf = <Item>(items: readonly Item[], figure: (item: Item) => number): number =>
  items.reduce((sum, item) => sum + figure(item), 0)

/** The least of the samples that so large a share of them does not exceed; null where there are none. */
export function quantile(samples: readonly number[], share: number): number | null {
  const ascending = samples.toSorted((one, other) => one - other)
  return ascending[Math.max(1, Math.ceil(share * ascending.length)) - 1] ?? null
}
