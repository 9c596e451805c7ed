import { LRUCache } from 'lru-cache'
import { createWindowLearner, type WindowLearner } from '../../overflow/learning.ts'
import { nameOfModel, type ModelKey } from '../../upstream/model-key.ts'
import { MODEL_NAME_CHARS_MAX } from '../../upstream/model-name.ts'
import { createUsageMemory, type UsageMemory } from './usage-memory.ts'

/** What answers taught about an upstream's model: its window, its true name, and how it wants messages placed. */
export type UpstreamMemory = {
  readonly windows: WindowLearner
  /** Where usage of streamed answers need not or must not be asked for. */
  readonly usage: UsageMemory
  /** How rewritten requests have to be placed for this model; null where nothing was refused. */
  readonly placementOf: (key: ModelKey) => Placement | null
  readonly rememberPlacement: (key: ModelKey, placement: Placement) => void
  /** Forgets that only original bytes work: they overflowed. */
  readonly forgetOriginal: (key: ModelKey) => void
  /** The model that answers to this name; null while no answer has said. */
  readonly answeredBy: (key: ModelKey) => string | null
  readonly rememberAnswer: (key: ModelKey, answeredBy: string) => void
}

/** `strict`: user messages joined; `original`: no rewriting at all. */
export type Placement = 'strict' | 'original'

export function createUpstreamMemory(): UpstreamMemory {
  const placements = new LRUCache<string, Placement>({ max: ENTRIES_MAX, ttl: STRICT_LIFETIME_MS })
  const answerers = new LRUCache<string, string>({ max: ENTRIES_MAX, ttl: ALIAS_LIFETIME_MS })
  return {
    windows: createWindowLearner({ entriesMax: ENTRIES_MAX, lifetimeMs: WINDOW_LIFETIME_MS }),
    usage: createUsageMemory(),
    placementOf: (key) => placements.get(nameOfModel(key)) ?? null,
    rememberPlacement: (key, placement) => {
      placements.set(nameOfModel(key), placement, {
        ttl: placement === 'strict' ? STRICT_LIFETIME_MS : ORIGINAL_LIFETIME_MS,
      })
    },
    forgetOriginal: (key) => {
      if (placements.get(nameOfModel(key)) === 'original') placements.delete(nameOfModel(key))
    },
    answeredBy: (key) => answerers.get(nameOfModel(key)) ?? null,
    rememberAnswer: (key, answeredBy) => {
      answerers.set(nameOfModel(key), answeredBy.slice(0, MODEL_NAME_CHARS_MAX))
    },
  }
}

// --- internal ---

const ENTRIES_MAX = 4096

/** A learnt window's end is the probe upwards. */
const WINDOW_LIFETIME_MS = 3_600_000

/** A model's template does not change while it runs; a day finds a new one. */
const STRICT_LIFETIME_MS = 86_400_000

/** What an alias or a deployment stands for may be changed behind it. */
const ALIAS_LIFETIME_MS = 3_600_000

/** One odd refusal must not end compaction for long. */
const ORIGINAL_LIFETIME_MS = 600_000
