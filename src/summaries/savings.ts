import type { SummarySettings } from './prompt.ts'

/** Whether a summary of this size is worth the break in the provider's cache, beside what it replaces; all in tokens. */
export function savesEnough(
  replacedTokens: number,
  summaryTokens: number,
  { min_savings_ratio }: Pick<SummarySettings, 'min_savings_ratio'>,
): boolean {
  const savedTokens = replacedTokens - summaryTokens
  return savedTokens >= SAVED_TOKENS_MIN && savedTokens >= replacedTokens * min_savings_ratio
}

// --- internal ---

const SAVED_TOKENS_MIN = 1024
