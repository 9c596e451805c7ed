import { LRUCache } from 'lru-cache'
import { createWindowLearner, type WindowLearner } from '../overflow/learning.ts'

/** What refusals taught about an upstream's model: its window, and how it wants messages placed. */
export type UpstreamMemory = {
  readonly windows: WindowLearner
  /** How rewritten requests have to be placed for this model; null where nothing was refused. */
  readonly placementOf: (key: ModelKey) => Placement | null
  readonly rememberPlacement: (key: ModelKey, placement: Placement) => void
  /** Forgets that only original bytes work: they overflowed. */
  readonly forgetOriginal: (key: ModelKey) => void
}

export type ModelKey = { readonly upstream: string; readonly credential: string; readonly model: string }

/** `strict`: user messages joined; `original`: no rewriting at all. */
export type Placement = 'strict' | 'original'

export function createUpstreamMemory(): UpstreamMemory {
  const placements = new LRUCache<string, Placement>({ max: ENTRIES_MAX, ttl: STRICT_LIFETIME_MS })
  return {
    windows: createWindowLearner({ entriesMax: ENTRIES_MAX, lifetimeMs: WINDOW_LIFETIME_MS }),
    placementOf: (key) => placements.get(nameOf(key)) ?? null,
    rememberPlacement: (key, placement) => {
      placements.set(nameOf(key), placement, {
        ttl: placement === 'strict' ? STRICT_LIFETIME_MS : ORIGINAL_LIFETIME_MS,
      })
    },
    forgetOriginal: (key) => {
      if (placements.get(nameOf(key)) === 'original') placements.delete(nameOf(key))
    },
  }
}

// --- internal ---

function nameOf(key: ModelKey): string {
  return JSON.stringify([key.upstream, key.credential, key.model])
}

const ENTRIES_MAX = 4096

/** A learnt window's end is the probe upwards. */
const WINDOW_LIFETIME_MS = 3_600_000

/** A model's template does not change while it runs; a day finds a new one. */
const STRICT_LIFETIME_MS = 86_400_000

/** One odd refusal must not end compaction for long. */
const ORIGINAL_LIFETIME_MS = 600_000
