import type { Settings } from '../config/settings.ts'
import { lruCache } from '../caches.ts'
import { mostSpecificGlob } from '../profiles/glob.ts'
import listed from '../models/table/list-prices.json' with { type: 'json' }
import { modelSpellings } from '../models/table/model-spellings.ts'
import type { RequestEnd, RequestReport } from './request-report.ts'
import type { Spent } from '../summaries/summary-order.ts'

/** Per million tokens, in any one currency; null if it is not known. */
export type Price = Settings['prices'][string] & {
  /** The longest prompt that has this price; left out or null: any. Nobody knows what a longer one costs. */
  readonly promptTokensMax?: number | null
}

/** When these prices were listed. */
export const LIST_PRICES_OF = '10 November 2026'

/**
 * Finds the price of a model: what the settings (`prices`) say, or where they have none at all what its maker lists. Null
 * where neither does. The two are never mixed: the settings may be in any currency.
 */
export function createPriceList(prices: Settings['prices']): (model: string) => Price | null {
  const patterns = Object.keys(prices)
  const own = (model: string): Price | null => {
    const pattern = mostSpecificGlob(patterns, model)
    return pattern === null ? null : (prices[pattern] ?? null)
  }
  const find = patterns.length === 0 ? listPrice : own
  // Clients name the models: some are asked for again and again.
  const known = lruCache<{ readonly price: Price | null }>(MODELS_MAX)
  return function priceOf(model) {
    const found = known.get(model)
    if (found !== undefined) return found.price
    const price = find(model)
    known.set(model, { price })
    return price
  }
}

/** What of a report its tokens and costs are made of. */
export type CountedReport = Pick<RequestReport, 'isSentBound' | 'ratio' | 'repeatedTokens'> & {
  readonly row: Pick<RequestReport['row'], 'tokens_received' | 'tokens_sent' | 'tokens_are_bounds'>
}

/**
 * The tokens of a request's prompt as it came, as it was sent, and of these from the provider's cache and written to it: by the provider's
 * count if it stated one, else by ours; null if nobody counted. An upper bound is no count. Only we count what was not
 * sent; it is stated in the provider's tokens if its count of what was sent is known.
 */
export function promptCounts({ row, isSentBound, ratio }: CountedReport, usage: RequestEnd['usage']) {
  const { tokens_received: ownReceived, tokens_sent: ownSent } = row
  const sent = usage?.promptTokens ?? (isSentBound ? null : ownSent)
  const [cached, written] = [usage?.cachedTokens ?? null, usage?.cacheWrittenTokens ?? null]
  const counts = { sent, cached, written }
  if (sent === null || ownReceived === null || ownSent === null) return { received: sent, ...counts }
  if (row.tokens_are_bounds) return { received: isSentBound ? sent : null, ...counts }
  const unsentTokens = ownReceived - ownSent
  const inItsTokens = usage === null ? unsentTokens : Math.round(unsentTokens * ratio)
  // More may be sent than came, and its count of that be far below ours.
  return { received: Math.max(0, sent + inItsTokens), ...counts }
}

/** How many tokens of a prompt were not sent on; 0 where nobody counted both. */
export function savedTokens(report: CountedReport, usage: RequestEnd['usage']): number {
  const { received, sent } = promptCounts(report, usage)
  return received === null || sent === null ? 0 : received - sent
}

/** What a prompt cost, and what it would have cost whole; null if that is not known. */
export type PromptCosts = { readonly sent: number | null; readonly whole: number | null }

/**
 * What a request's prompt cost by the provider's count, and what the whole conversation would have cost in its place, had
 * the window been endless: its beginning, which the request before had sent already, from the cache as far as this
 * provider has one, and the rest written to it as far as that is what becomes of what is new. So a compaction that breaks the
 * cache shows as the loss that it is.
 */
export function promptCosts(
  report: CountedReport,
  usage: RequestEnd['usage'],
  price: Price | null,
): PromptCosts {
  if (price === null || price.input === null || usage === null) return { sent: null, whole: null }
  const { received, cached, written } = promptCounts(report, usage)
  const sent = usage.promptTokens
  const priceTokensMax = price.promptTokensMax ?? Infinity
  if (sent > priceTokensMax) return { sent: null, whole: null }
  const sentCost = costOf(sent, cached ?? 0, written ?? 0, price)
  if (received === null || report.row.tokens_received === null || received > priceTokensMax)
    return { sent: sentCost, whole: null }
  // What was sent whole cost what it cost.
  if (received === sent) return { sent: sentCost, whole: sentCost }
  // Where a cache is written by the client's marks alone, one who sets none reads none either, however long the prompt.
  const isUncached = cached === null || (cached === 0 && written === 0)
  const repeated = isUncached ? 0 : Math.round(report.repeatedTokens * report.ratio)
  const read = Math.min(repeated, received)
  // What was neither read nor written is the end behind the last mark: it would have been the same.
  const unwritten = sent - (cached ?? 0) - (written ?? 0)
  const wouldWrite = (written ?? 0) === 0 ? 0 : Math.max(0, received - read - unwritten)
  return { sent: sentCost, whole: costOf(received, read, wouldWrite, price) }
}

/** What calls to a summary model cost; null if that is not known. */
export function summaryCost(
  spent: Pick<Spent, 'promptTokens' | 'cachedTokens' | 'cacheWrittenTokens' | 'completionTokens'>,
  price: Price | null,
): number | null {
  if (price === null || price.input === null || price.output === null) return null
  const { promptTokens, cachedTokens, cacheWrittenTokens, completionTokens } = spent
  const promptCost = costOf(promptTokens, cachedTokens, cacheWrittenTokens, price)
  return promptCost + (completionTokens * price.output) / PER_TOKENS
}

// --- internal ---

const MODELS_MAX = 1_000

/**
 * What OpenAI and Anthropic list for a model, in US dollars per million tokens; null if it is not in the list. A plan, a
 * discount, another region or an hour's cache (the figures are for five minutes) cost otherwise: `prices` in the settings is
 * for those.
 */
function listPrice(model: string): Price | null {
  for (const name of modelSpellings(model)) {
    const price = byName.get(name)
    if (price !== undefined) return price
  }
  return null
}

const byName = new Map<string, Price>(Object.entries(listed.prices))

/** Prices are for so many tokens. */
const PER_TOKENS = 1_000_000

/** A price list without a price for reading or writing the cache has one price for all. */
function costOf(tokens: number, readTokens: number, writtenTokens: number, price: Price): number {
  const full = price.input ?? 0
  const read = readTokens * (price.cached_input ?? full)
  const written = writtenTokens * (price.cache_written_input ?? full)
  const plain = Math.max(0, tokens - readTokens - writtenTokens) * full
  return (plain + read + written) / PER_TOKENS
}
