import { median, spreadOf } from '../figures.ts'
import type { Check } from '../section.ts'

/** A check on a figure that each round gave. */
export function checkOf(check: Pick<Check, 'id' | 'what' | 'bound'>, values: readonly number[]): Check {
  return { ...check, value: median(values), spread: spreadOf(values) }
}
