import type { Figure } from './agreement.ts'

/** What those tell who tell anything of a figure. */
export type Told = {
  readonly [Who in Exclude<keyof Figure, 'name' | 'agrees'>]?: number | string | null
}

/** A figure on which all who tell it have to agree. */
export function agreeing(name: string, told: Told): Figure {
  const values = Object.values(told).filter((value) => value !== null && value !== undefined)
  return figure(name, told, new Set(values.map(shown)).size <= 1)
}

/** A figure that holds if `agrees` says so. */
export function figure(name: string, told: Told, agrees: boolean): Figure {
  return {
    name,
    upstream: cell(told.upstream),
    metrics: cell(told.metrics),
    journal: cell(told.journal),
    headers: cell(told.headers),
    pages: cell(told.pages),
    agrees,
  }
}

export function sumOf<Item>(items: readonly Item[], value: (item: Item) => number): number {
  return items.reduce((sum, item) => sum + value(item), 0)
}

// --- internal ---

function cell(value: number | string | null | undefined): string | null {
  return value === null || value === undefined ? null : shown(value)
}

/** Sums of fractions come out otherwise in another order. */
function shown(value: number | string): string {
  return typeof value === 'string'
    ? value
    : value.toLocaleString('en-US', { maximumFractionDigits: 6, useGrouping: true })
}
