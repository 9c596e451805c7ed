import type { RequestEnd, RequestSize } from '../request-report.ts'
import { promptTokensOf } from '../prompt-tokens.ts'
import type { Price } from './price-list.ts'

/** What a prompt cost, and what it would have cost whole; null where that is not known. */
export type PromptCosts = { readonly sent: number | null; readonly whole: number | null }

/**
 * What a request's prompt cost by the provider's count, and what the whole conversation would have cost in its place, had
 * the window been endless: its beginning, which the request before had sent already, from the cache as far as this
 * provider has one. So a compaction that breaks the cache shows as the loss that it is.
 */
export function promptCosts(
  size: RequestSize | null,
  usage: RequestEnd['usage'],
  price: Price | null,
): PromptCosts {
  if (price === null || price.input === null || usage === null) return { sent: null, whole: null }
  const { received, sent, cached } = promptTokensOf(size, usage)
  if (sent === null) return { sent: null, whole: null }
  const sentCost = costOf(sent, cached ?? 0, price)
  if (received === null || size === null) return { sent: sentCost, whole: null }
  // What was sent whole cost what it cost.
  if (received === sent) return { sent: sentCost, whole: sentCost }
  const repeated = cached === null ? 0 : Math.round(size.repeatedTokens * size.ratio)
  return { sent: sentCost, whole: costOf(received, Math.min(repeated, received), price) }
}

/** What calls to a summary model cost; null where that is not known. */
export function summaryCost(
  spent: {
    readonly promptTokens: number
    readonly cachedTokens: number
    readonly completionTokens: number
  },
  price: Price | null,
): number | null {
  if (price === null || price.input === null || price.output === null) return null
  const { promptTokens, cachedTokens, completionTokens } = spent
  return costOf(promptTokens, cachedTokens, price) + (completionTokens * price.output) / PER_TOKENS
}

// --- internal ---

/** Prices are for so many tokens. */
const PER_TOKENS = 1_000_000

/** A price list without a price for cached tokens has one price for all. */
function costOf(tokens: number, cachedTokens: number, { input, cached_input: cachedInput }: Price): number {
  const full = input ?? 0
  return ((tokens - cachedTokens) * full + cachedTokens * (cachedInput ?? full)) / PER_TOKENS
}
