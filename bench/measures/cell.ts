import { median, spreadOf } from '../figures.ts'
import { shown, shownSpread } from '../shown.ts'

/** The median of what the rounds gave and, where there were several, the least and the most. */
export function cellOf(values: readonly number[]): string {
  if (values.length === 0) return '–'
  return values.length === 1
    ? shown(median(values))
    : `${shown(median(values))} (${shownSpread(spreadOf(values))})`
}
