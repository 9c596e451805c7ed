import type { Check } from '../section.ts'

/** Whether a figure keeps its bound. One that could not be had does not. */
export function isMet({ bound, value }: Check): boolean {
  switch (bound.kind) {
    case 'at most':
      return value <= bound.value
    case 'at least':
      return value >= bound.value
  }
}
