/** How a window's tokens are counted: prompt and output together, or the prompt only. */
export type WindowKind = 'total' | 'input'

/**
 * What a prompt may take: the window less the reserve. A reserve never takes more than half of a total window, and nothing
 * of a window that counts the prompt only. At least 1, so that it can be divided by.
 */
export function budgetOf(window: {
  readonly windowTokens: number
  readonly kind: WindowKind
  readonly reserveTokens: number
}): number {
  const reserveTokens =
    window.kind === 'input' ? 0 : Math.min(window.reserveTokens, Math.floor(window.windowTokens / 2))
  return Math.max(1, window.windowTokens - reserveTokens)
}

/** Whether an output limit says how much is to be kept free. */
export function isSensibleLimit(limitTokens: number | null): limitTokens is number {
  return limitTokens !== null && Number.isFinite(limitTokens) && limitTokens > 0
}

/**
 * A trigger, target or `at` in tokens of the whole prompt, never above the budget. Up to 1 it is a share of what the fixed
 * parts leave of the budget; above 1 it is tokens.
 */
export function thresholdTokens(setting: number, budgetTokens: number, fixedTokens: number): number {
  const tokens = setting > 1 ? setting : fixedTokens + setting * (budgetTokens - fixedTokens)
  return Math.min(budgetTokens, Math.floor(tokens))
}
