import type { Table } from '../section.ts'

/** A table with its columns aligned in the source too: the first to the left, figures to the right. */
export function markdownTable({ columns, rows }: Pick<Table, 'columns' | 'rows'>): string {
  const cells = [columns, ...rows].map((row) => row.map((cell) => cell.replaceAll('|', '\\|')))
  const widths = columns.map((_, column) => Math.max(3, ...cells.map((row) => row[column]?.length ?? 0)))
  const line = (row: readonly string[]): string =>
    `| ${widths.map((width, column) => aligned(row[column] ?? '', width, column)).join(' | ')} |`
  const rule = `| ${widths.map((width, column) => (column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`
  const [head = [], ...body] = cells
  return [line(head), rule, ...body.map(line)].join('\n')
}

// --- internal ---

function aligned(cell: string, width: number, column: number): string {
  return column === 0 ? cell.padEnd(width) : cell.padStart(width)
}
