import type { Table } from '../section.ts'

/** A table with its columns aligned in the source too: what is in words to the left, figures to the right. */
export function markdownTable({ columns, rows }: Pick<Table, 'columns' | 'rows'>): string {
  const [head = [], ...body] = [columns, ...rows].map((row) =>
    row.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')),
  )
  const widths = head.map((_, column) =>
    Math.max(3, ...[head, ...body].map((row) => row[column]?.length ?? 0)),
  )
  const isFigures = head.map((_, column) => body.every((row) => /^[\d–-]/.test(row[column] ?? '')))
  const line = (row: readonly string[]): string =>
    `| ${widths.map((width, column) => (isFigures[column] === true ? (row[column] ?? '').padStart(width) : (row[column] ?? '').padEnd(width))).join(' | ')} |`
  const rule = widths.map((width, column) =>
    isFigures[column] === true ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width),
  )
  return [line(head), `| ${rule.join(' | ')} |`, ...body.map(line)].join('\n')
}
