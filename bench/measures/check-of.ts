import { median, spreadOf } from '../figures.ts'
import type { Check } from '../section.ts'

/** A check on a figure that each round gave. */
export function checkOf(id: string, what: string, bound: Check['bound'], values: readonly number[]): Check {
  return { id, what, bound, value: median(values), spread: spreadOf(values) }
}
