import type { Failures } from './failures.ts'

/** When a request had arrived: by the clock, and as `performance.now()` told. */
export type Arrival = { readonly atMs: number; readonly monotonicMs: number }

export type ArrivalParts = {
  readonly failures: Pick<Failures, 'attempt'>
  readonly nowMs: () => number
}

/** Now. A clock that fails costs a report its time, and the request nothing. */
export function arrivalNow({ failures, nowMs }: ArrivalParts): Arrival {
  return { atMs: failures.attempt('observation', 0, nowMs), monotonicMs: performance.now() }
}
