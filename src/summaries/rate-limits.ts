import { LRUCache } from 'lru-cache'
import type { HeldKeyMark } from '../upstream/held-key-marks.ts'
import type { ModelKey } from '../models/model-key.ts'

/** Which upstreams take no more of a credential for now. */
export type RateLimits = {
  /** `retryAfterMs` is null if the upstream did not say. */
  readonly note: (key: Payer, retryAfterMs: number | null) => void
  readonly isLimited: (key: Payer) => boolean
}

/** An upstream, and the credential that it limits. */
type Payer = Pick<ModelKey, 'upstream' | 'credential'>

export function createRateLimits({
  nowMs,
  heldKeyMark,
}: {
  readonly nowMs: () => number
  readonly heldKeyMark: HeldKeyMark
}): RateLimits {
  const untilMs = new LRUCache<string, number>({ max: ENTRIES_MAX })
  // Limits are a key's: another one has its own.
  const nameOf = ({ upstream, credential }: Payer): string =>
    JSON.stringify([upstream, credential, heldKeyMark(upstream)])
  return {
    note: (key, retryAfterMs) => {
      untilMs.set(nameOf(key), nowMs() + Math.min(retryAfterMs ?? USUAL_MS, LONGEST_MS))
    },
    isLimited: (key) => {
      const name = nameOf(key)
      const until = untilMs.get(name) ?? 0
      const untilMax = nowMs() + LONGEST_MS
      // The clock was set back since: the limit must not last longer for that.
      if (until > untilMax) untilMs.set(name, untilMax)
      return until > nowMs()
    },
  }
}

// --- internal ---

const ENTRIES_MAX = 4096

/** Most limits are by the minute. */
const USUAL_MS = 30_000

/** Even if an upstream asks for longer: a quota by the day is refused again, and that costs nothing. */
const LONGEST_MS = 600_000
