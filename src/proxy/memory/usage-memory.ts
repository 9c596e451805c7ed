import { LRUCache } from 'lru-cache'
import { nameOfModel, type ModelKey } from '../../upstream/model-key.ts'

/** Where an upstream's model need not, or must not, be asked for the usage of a streamed answer. */
export type UsageMemory = {
  readonly mayAsk: (key: ModelKey) => boolean
  /** A streamed answer stated its usage although nobody had asked: asking gains nothing. */
  readonly stated: (key: ModelKey) => void
  /** A request was refused for asking. `guessed`: it was one of two things that may have been why. */
  readonly refused: (key: ModelKey, how: 'named' | 'guessed') => void
}

export function createUsageMemory(): UsageMemory {
  const unasked = new LRUCache<string, true>({ max: ENTRIES_MAX, ttl: LIFETIME_MS })
  return {
    mayAsk: (key) => !unasked.has(nameOfModel(key)),
    stated: (key) => void unasked.set(nameOfModel(key), true),
    refused: (key, how) => {
      unasked.set(nameOfModel(key), true, { ttl: how === 'named' ? LIFETIME_MS : GUESS_LIFETIME_MS })
    },
  }
}

// --- internal ---

const ENTRIES_MAX = 4096

/** A server's habits change with its version; a day finds a new one. */
const LIFETIME_MS = 86_400_000

/** One odd refusal must not end counting for long. */
const GUESS_LIFETIME_MS = 3_600_000
