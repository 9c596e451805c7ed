import type { Probe } from './plan.ts'
import type { Reading } from './reading.ts'

/** Which probes one credential was denied: they are left for a while, for this credential only. */
export type Denials = {
  readonly isPaused: (probe: Probe, nowMs: number) => boolean
  readonly note: (probe: Probe, use: Reading['use'], nowMs: number) => void
}

export function createDenials(): Denials {
  const denials = new Map<string, { readonly count: number; readonly untilMs: number }>()
  return {
    isPaused: ({ name }, nowMs) => (denials.get(name)?.untilMs ?? 0) > nowMs,
    note: function note({ name }, use, nowMs) {
      if (use === 'useful' || use === 'useless') denials.delete(name)
      if (use !== 'denied') return
      const count = (denials.get(name)?.count ?? 0) + 1
      denials.set(name, { count, untilMs: nowMs + Math.min(PAUSE_MS * 2 ** (count - 1), PAUSE_MAX_MS) })
    },
  }
}

// --- internal ---

/** Doubled with each denial in a row, in milliseconds. */
const PAUSE_MS = 60_000

/** A key may be given its rights while it is in use. */
const PAUSE_MAX_MS = 3_600_000
