import { alignedTable } from '../../support/aligned-table.ts'
import type { Figure } from './agreement.ts'

/** A row for each figure, a column for each who tells it. */
export function tableOf(figures: readonly Figure[]): string {
  const head = ['figure', 'upstream', 'metrics', 'journal', 'headers', 'pages', 'agree']
  const rows = figures.map((figure) => [
    figure.name,
    ...[figure.upstream, figure.metrics, figure.journal, figure.headers, figure.pages].map(
      (cell) => cell ?? '',
    ),
    figure.agrees ? 'yes' : 'NO',
  ])
  return alignedTable([head, ...rows])
}
