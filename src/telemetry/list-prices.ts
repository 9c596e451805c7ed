import listed from '../models/table/list-prices.json' with { type: 'json' }
import { modelSpellings } from '../models/table/model-spellings.ts'
import type { Settings } from '../config/settings.ts'

/** Per million tokens, in any one currency; null if it is not known. */
export type Price = Settings['prices'][string] & {
  /** The longest prompt that has this price; left out or null: any. Nobody knows what a longer one costs. */
  readonly promptTokensMax?: number | null
}

/** When these prices were listed. */
export const LIST_PRICES_OF = '10 November 2026'

/**
 * What OpenAI and Anthropic list for a model, in US dollars per million tokens; null if it is not in the list. A plan, a
 * discount, another region or an hour's cache (the figures are for five minutes) cost otherwise: `prices` in the settings is
 * for those.
 */
export function listPrice(model: string): Price | null {
  for (const name of modelSpellings(model)) {
    const price = byName.get(name)
    if (price !== undefined) return price
  }
  return null
}

// --- internal ---

const byName = new Map<string, Price>(Object.entries(listed.prices))
