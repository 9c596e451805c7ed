import { LRUCache } from 'lru-cache'
import { nameOfModel, type ModelKey } from './model-key.ts'

/** Which models were seen to read prompts from their provider's cache. */
export type PromptCaches = {
  /** Takes what an answer stated; null where it said nothing of a cache. */
  readonly note: (key: ModelKey, promptTokens: number, cachedTokens: number | null) => void
  /** Whether most of one of the latest two long prompts came from the cache: the next one's beginning will too. */
  readonly isRead: (key: ModelKey) => boolean
  readonly forget: (key: ModelKey) => void
}

export function createPromptCaches(): PromptCaches {
  const misses = new LRUCache<string, number>({ max: ENTRIES_MAX, ttl: LIFETIME_MS })
  return {
    note: (key, promptTokens, cachedTokens) => {
      if (promptTokens < LONG_TOKENS) return
      const isRead = (cachedTokens ?? 0) >= promptTokens * READ_SHARE
      const name = nameOfModel(key)
      misses.set(name, isRead ? 0 : (misses.get(name) ?? MISSES_MAX) + 1)
    },
    isRead: (key) => (misses.get(nameOfModel(key)) ?? MISSES_MAX) < MISSES_MAX,
    forget: (key) => void misses.delete(nameOfModel(key)),
  }
}

// --- internal ---

const ENTRIES_MAX = 4096

/** Caches forget after some minutes without a request; an hour is the longest that providers promise. */
const LIFETIME_MS = 3_600_000

/** Shorter prompts are not cached by everybody. */
const LONG_TOKENS = 2048

const READ_SHARE = 0.5

/** One miss in a row says nothing: a compaction's first prompt is new from the fold on, and has just filled the cache. */
const MISSES_MAX = 2
