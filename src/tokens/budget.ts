/** How a window's tokens are counted: prompt and output together, or the prompt only. */
export type WindowKind = 'total' | 'input'

/** What is to be kept free for the reply, in tokens, and who says so. */
export type Reserve = { readonly tokens: number; readonly of: 'request' | 'profile' }

/** A request's own output limit where that is a sensible one, else the profile's reserve. */
export function reserveFor(limitTokens: number | null, reserveTokens: number): Reserve {
  return limitTokens !== null && Number.isFinite(limitTokens) && limitTokens > 0
    ? { tokens: Math.ceil(limitTokens), of: 'request' }
    : { tokens: reserveTokens, of: 'profile' }
}

/**
 * The numbers that a decision is made with, in Foldgate's own count: the provider's figures divided by the
 * ratio of its count to ours.
 */
export type Room = {
  /** Window less reserve. */
  readonly budgetTokens: number
  /** What surrounds the messages that may be compacted: leading system block, tools, schemas, priming. */
  readonly aroundTokens: number
}

/** What a prompt and its reply may take together, or the prompt alone. */
export type Window = { readonly tokens: number; readonly kind: WindowKind }

/**
 * What a prompt may take of a window beside the reserve; at least 1, so that it can be divided by. The profile's never takes
 * more than a quarter of a window. Of a request's own limit more than half of it says what the model can, not what a reply
 * needs: then a quarter is enough, or half where the server holds the limit against the window.
 */
export function budgetOf(window: Window, reserve: Reserve, isLimitHeld = false): number {
  const { tokens, kind } = window
  if (kind === 'input') return Math.max(1, tokens)
  const half = Math.floor(tokens / 2)
  const isSaid = reserve.of === 'request' && (reserve.tokens <= half || isLimitHeld)
  return Math.max(1, tokens - Math.min(reserve.tokens, isSaid ? half : Math.floor(tokens / 4)))
}

/**
 * A trigger, target or `at` in tokens of the whole prompt, never above the budget. Up to 1 it is a share of what the fixed
 * parts leave of the budget; above 1 it is tokens.
 */
export function thresholdTokens(setting: number, budgetTokens: number, fixedTokens: number): number {
  const tokens = setting > 1 ? setting : fixedTokens + setting * (budgetTokens - fixedTokens)
  return Math.min(budgetTokens, Math.floor(tokens))
}
