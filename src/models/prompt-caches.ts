import type { ModelKey } from './model-key.ts'
import type { Models } from './models.ts'

/** Takes what an answer stated of its provider's prompt cache; null where it said nothing of one. */
export function noteCached(
  models: Pick<Models, 'suspected'>,
  key: ModelKey,
  promptTokens: number,
  cachedTokens: number | null,
): void {
  if (promptTokens < LONG_TOKENS) return
  const suspected = models.suspected(key)
  const isRead = (cachedTokens ?? 0) >= promptTokens * READ_SHARE
  suspected.cacheMisses = isRead ? 0 : (suspected.cacheMisses ?? MISSES_MAX) + 1
}

/** Whether most of one of the latest two long prompts came from the cache: the next one's beginning will too. */
export function readsFromCache(models: Pick<Models, 'suspected'>, key: ModelKey): boolean {
  return (models.suspected(key).cacheMisses ?? MISSES_MAX) < MISSES_MAX
}

// --- internal ---

/** Shorter prompts are not cached by everybody. */
const LONG_TOKENS = 2048

const READ_SHARE = 0.5

/** One miss in a row says nothing: a compaction's first prompt is new from the fold on, and has just filled the cache. */
const MISSES_MAX = 2
