import { LRUCache } from 'lru-cache'
import type { Settings } from '../../config/settings.ts'
import { mostSpecificGlob } from '../../profiles/glob.ts'

/** Per million tokens, in any one currency; null where it is not known. */
export type Price = Settings['prices'][string]

/** Finds the price of a model; null where the settings (`prices`) have none. */
export type PriceList = {
  readonly priceOf: (model: string) => Price | null
  readonly isEmpty: boolean
}

export function createPriceList(prices: Settings['prices']): PriceList {
  const patterns = Object.keys(prices)
  // Models are named by clients: some are asked for again and again.
  const known = new LRUCache<string, { readonly price: Price | null }>({ max: MODELS_MAX })
  return {
    isEmpty: patterns.length === 0,
    priceOf: (model) => {
      const found = known.get(model)
      if (found !== undefined) return found.price
      const pattern = mostSpecificGlob(patterns, model)
      const price = pattern === null ? null : (prices[pattern] ?? null)
      known.set(model, { price })
      return price
    },
  }
}

// --- internal ---

const MODELS_MAX = 1_000
