import type { MeasureOptions } from '../section.ts'

/** How long a subject is asked before anything of it is measured, in milliseconds: until its code has been compiled. */
export function warmingMs({ isQuick }: MeasureOptions['effort']): number {
  return isQuick ? 500 : 8_000
}
