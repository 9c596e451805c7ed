import { lruCache } from '../caches.ts'
import type { ModelKey } from '../models/model-record.ts'
import type { HeldKeyMark } from '../upstream/credential.ts'

/** Which upstreams take no more of a credential for now. */
export function createRateLimits(heldKeyMark: HeldKeyMark) {
  const limited = lruCache<true>(PAYERS_MAX)
  // Limits are a key's: another one has its own.
  const nameOf = ({ upstream, credential }: Payer): string =>
    JSON.stringify([upstream, credential, heldKeyMark(upstream)])
  return {
    /** `retryAfterMs` is null if the upstream did not say. */
    note: (key: Payer, retryAfterMs: number | null) => {
      const ttl = Math.min(Math.max(1, retryAfterMs ?? USUAL_MS), LONGEST_MS)
      limited.set(nameOf(key), true, { ttl })
    },
    isLimited: (key: Payer) => limited.has(nameOf(key)),
  }
}

// --- internal ---

/** An upstream, and the credential that it limits. */
type Payer = Pick<ModelKey, 'upstream' | 'credential'>

const PAYERS_MAX = 4096

/** Most limits are by the minute. */
const USUAL_MS = 30_000

/** Even if an upstream asks for longer: a quota by the day is refused again, and that costs nothing. */
const LONGEST_MS = 600_000
