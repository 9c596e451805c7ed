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

/** What is kept free for the reply: the request's own limit where it sets a sensible one, else the profile's reserve. */
export function reserveFor(reply: {
  readonly requestLimitTokens: number | null
  readonly profileReserveTokens: number
}): number {
  const { requestLimitTokens } = reply
  return isSensibleLimit(requestLimitTokens) ? Math.ceil(requestLimitTokens) : reply.profileReserveTokens
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

/** The prompt as a share of the budget; above 1 it does not fit. */
export function pressureOf(promptTokens: number, budgetTokens: number): number {
  return promptTokens / Math.max(1, budgetTokens)
}

/**
 * Whether a body is so small that nothing has to be counted: a text never has more tokens than UTF-8 bytes, and a message's
 * keys and quotes take more bytes than its framing takes tokens. Media cost what their size says, not what their bytes say.
 */
export function needsNoCount(body: {
  readonly bodyBytes: number
  /** The provider's count for one of ours: see `ratio.ts`. */
  readonly ratio: number
  readonly triggerTokens: number
  readonly hasMedia: boolean
}): boolean {
  return !body.hasMedia && body.bodyBytes * body.ratio < body.triggerTokens
}
