import type { RequestEnd, RequestSize } from './request-report.ts'

/** The tokens of a prompt; null where nobody counted them. */
export type PromptTokens = {
  readonly received: number | null
  readonly sent: number | null
  readonly cached: number | null
}

/**
 * The tokens of a request's prompt as it came, as it was sent, and of these from the provider's cache: by the provider's
 * count where it stated one, else by ours. An upper bound is no count. What was not sent is known by our count only; it
 * is stated in the provider's tokens where its count of what was sent is known.
 */
export function promptTokensOf(size: RequestSize | null, usage: RequestEnd['usage']): PromptTokens {
  const sent = usage?.promptTokens ?? (size === null || size.isSentBound ? null : size.sentTokens)
  const cached = usage?.cachedTokens ?? null
  if (sent === null || size === null) return { received: sent, sent, cached }
  if (size.isBound) return { received: size.isSentBound ? sent : null, sent, cached }
  const unsentTokens = size.receivedTokens - size.sentTokens
  const inItsTokens = usage === null ? unsentTokens : Math.round(unsentTokens * size.ratio)
  // More may be sent than came, and its count of that be far below ours.
  return { received: Math.max(0, sent + inItsTokens), sent, cached }
}
