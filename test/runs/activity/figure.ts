import { alignedTable } from '../harness/table.ts'

/** What those tell who tell anything of a figure. */
export type Told = {
  readonly upstream?: Value
  readonly metrics?: Value
  /** Rows and events. */
  readonly journal?: Value
  /** Those of the answers. */
  readonly headers?: Value
  /** Cards, the headline, the messages of a conversation. */
  readonly pages?: Value
}

type Value = number | string | null

/** One figure as each of those tells it, in their order; '' where one does not. */
export type Figure = {
  readonly name: string
  readonly cells: readonly string[]
  readonly agrees: boolean
}

/** A figure on which all who tell it have to agree. */
export function agreeing(name: string, told: Told): Figure {
  const values = Object.values(told).filter((value) => value !== null && value !== undefined)
  return figure(name, told, new Set(values.map(shown)).size <= 1)
}

/** A figure that holds if `agrees` says so. */
export function figure(name: string, told: Told, agrees: boolean): Figure {
  const { upstream, metrics, journal, headers, pages } = told
  const cells = [upstream, metrics, journal, headers, pages].map((value) =>
    value == null ? '' : shown(value),
  )
  return { name, cells, agrees }
}

/** A row for each figure, a column for each who tells it. */
export function tableOf(figures: readonly Figure[]): string {
  const head = ['figure', 'upstream', 'metrics', 'journal', 'headers', 'pages', 'agree']
  const rows = figures.map(({ name, cells, agrees }) => [name, ...cells, agrees ? 'yes' : 'NO'])
  return alignedTable([head, ...rows])
}

/** Sums of fractions come out otherwise in another order. */
const shown = (value: number | string): string =>
  typeof value === 'string'
    ? value
    : value.toLocaleString('en-US', { maximumFractionDigits: 6, useGrouping: true })
