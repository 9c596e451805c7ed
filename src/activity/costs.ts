import type { Settings } from '../config/settings.ts'
import { lruCache } from '../lru-cache.ts'
import { mostSpecificGlob } from '../profiles/glob.ts'
import type { RequestEnd, RequestReport } from './request-report.ts'

/** Per million tokens, in any one currency; null if it is not known. */
export type Price = Settings['prices'][string]

/** Finds the price of a model; null if the settings (`prices`) have none. */
export function createPriceList(prices: Settings['prices']): (model: string) => Price | null {
  const patterns = Object.keys(prices)
  // Clients name the models: some are asked for again and again.
  const known = lruCache<{ readonly price: Price | null }>(MODELS_MAX)
  return function priceOf(model) {
    const found = known.get(model)
    if (found !== undefined) return found.price
    const pattern = mostSpecificGlob(patterns, model)
    const price = pattern === null ? null : (prices[pattern] ?? null)
    known.set(model, { price })
    return price
  }
}

/** What of a report its tokens and costs are made of. */
export type CountedReport = Pick<RequestReport, 'isSentBound' | 'ratio' | 'repeatedTokens'> & {
  readonly row: Pick<RequestReport['row'], 'tokens_received' | 'tokens_sent' | 'tokens_are_bounds'>
}

/**
 * The tokens of a request's prompt as it came, as it was sent, and of these from the provider's cache: by the provider's
 * count if it stated one, else by ours; null if nobody counted. An upper bound is no count. Only we count what was not
 * sent; it is stated in the provider's tokens if its count of what was sent is known.
 */
export function promptCounts({ row, isSentBound, ratio }: CountedReport, usage: RequestEnd['usage']) {
  const { tokens_received: ownReceived, tokens_sent: ownSent } = row
  const sent = usage?.promptTokens ?? (isSentBound ? null : ownSent)
  const cached = usage?.cachedTokens ?? null
  if (sent === null || ownReceived === null || ownSent === null) return { received: sent, sent, cached }
  if (row.tokens_are_bounds) return { received: isSentBound ? sent : null, sent, cached }
  const unsentTokens = ownReceived - ownSent
  const inItsTokens = usage === null ? unsentTokens : Math.round(unsentTokens * ratio)
  // More may be sent than came, and its count of that be far below ours.
  return { received: Math.max(0, sent + inItsTokens), sent, cached }
}

/** What a prompt cost, and what it would have cost whole; null if that is not known. */
export type PromptCosts = { readonly sent: number | null; readonly whole: number | null }

/**
 * What a request's prompt cost by the provider's count, and what the whole conversation would have cost in its place, had
 * the window been endless: its beginning, which the request before had sent already, from the cache as far as this
 * provider has one. So a compaction that breaks the cache shows as the loss that it is.
 */
export function promptCosts(
  report: CountedReport,
  usage: RequestEnd['usage'],
  price: Price | null,
): PromptCosts {
  if (price === null || price.input === null || usage === null) return { sent: null, whole: null }
  const { received, cached } = promptCounts(report, usage)
  const sent = usage.promptTokens
  const sentCost = costOf(sent, cached ?? 0, price)
  if (received === null || report.row.tokens_received === null) return { sent: sentCost, whole: null }
  // What was sent whole cost what it cost.
  if (received === sent) return { sent: sentCost, whole: sentCost }
  const repeated = cached === null ? 0 : Math.round(report.repeatedTokens * report.ratio)
  return { sent: sentCost, whole: costOf(received, Math.min(repeated, received), price) }
}

/** What calls to a summary model cost; null if that is not known. */
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

const MODELS_MAX = 1_000

/** Prices are for so many tokens. */
const PER_TOKENS = 1_000_000

/** A price list without a price for cached tokens has one price for all. */
function costOf(tokens: number, cachedTokens: number, { input, cached_input: cachedInput }: Price): number {
  const full = input ?? 0
  return ((tokens - cachedTokens) * full + cachedTokens * (cachedInput ?? full)) / PER_TOKENS
}
