import { lruCache } from '../../caches.ts'

/**
 * Lets the same thing be told at once, and then at most every `gapMs`, a minute by default. Returns how many times it has happened since it
 * was last told, this time included; null where it is not to be told now. `nowMs` must not throw.
 */
export function createThrottle(nowMs: () => number, gapMs = 60_000): (name: string) => number | null {
  const told = lruCache<{ readonly atMs: number; untold: number }>(TOLD_MAX)
  return function timesToTell(name) {
    const last = told.get(name)
    const now = nowMs()
    if (last !== undefined && now - last.atMs < gapMs) {
      last.untold += 1
      return null
    }
    told.set(name, { atMs: now, untold: 0 })
    return (last?.untold ?? 0) + 1
  }
}

// --- internal ---

/** Different things that are remembered. */
const TOLD_MAX = 100
