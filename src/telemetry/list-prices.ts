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

type Listed = readonly [
  name: string,
  input: number,
  cachedInput: number | null,
  cacheWrittenInput: number | null,
  output: number,
  /** The longest prompt, in tokens, that has this price; null: any. */
  promptTokensMax: number | null,
]

// From the price data of @earendil-works/pi-ai 1.5.2, which come from models.dev: see NOTICE. Names as `modelSpellings` has them.
const listed: readonly Listed[] = [
  ['claude-fable-5', 10, 1, 12.5, 50, null],
  ['claude-fable-5-1', 10, 0.25, 12.5, 50, null],
  ['claude-fable-5-2', 8, 0.2, 10, 40, null],
  ['claude-haiku-4-5', 1, 0.1, 1.25, 5, null],
  ['claude-haiku-5-5', 0.1, 0.01, 0.125, 0.5, 100_000],
  ['claude-opus-4-5', 5, 0.5, 6.25, 25, null],
  ['claude-opus-4-6', 5, 0.5, 6.25, 25, null],
  ['claude-opus-4-7', 5, 0.5, 6.25, 25, null],
  ['claude-opus-4-8', 5, 0.5, 6.25, 25, null],
  ['claude-opus-5', 5, 0.5, 6.25, 25, null],
  ['claude-opus-5-5', 4, 0.2, 5, 20, null],
  ['claude-sonnet-4-5', 3, 0.3, 3.75, 15, null],
  ['claude-sonnet-4-6', 3, 0.3, 3.75, 15, null],
  ['claude-sonnet-5', 2, 0.2, 2.5, 10, null],
  ['claude-sonnet-5-5', 2, 0.1, 2.5, 10, null],
  ['gpt-4', 30, null, null, 60, null],
  ['gpt-4-turbo', 10, null, null, 30, null],
  ['gpt-4-1', 2, 0.5, null, 8, null],
  ['gpt-4-1-mini', 0.4, 0.1, null, 1.6, null],
  ['gpt-4-1-nano', 0.1, 0.025, null, 0.4, null],
  ['gpt-4o', 2.5, 1.25, null, 10, null],
  ['gpt-4o-mini', 0.15, 0.075, null, 0.6, null],
  ['gpt-5', 1.25, 0.125, null, 10, null],
  ['gpt-5-mini', 0.25, 0.025, null, 2, null],
  ['gpt-5-nano', 0.05, 0.005, null, 0.4, null],
  ['gpt-5-pro', 15, null, null, 120, null],
  ['gpt-5-1', 1.25, 0.125, null, 10, null],
  ['gpt-5-2', 1.75, 0.175, null, 14, null],
  ['gpt-5-2-pro', 21, null, null, 168, null],
  ['gpt-5-3-codex', 1.75, 0.175, null, 14, null],
  ['gpt-5-4', 2.5, 0.25, null, 15, 272_000],
  ['gpt-5-4-mini', 0.75, 0.075, null, 4.5, null],
  ['gpt-5-4-nano', 0.2, 0.02, null, 1.25, null],
  ['gpt-5-4-pro', 30, null, null, 180, 272_000],
  ['gpt-5-5', 5, 0.5, null, 30, 272_000],
  ['gpt-5-5-pro', 30, null, null, 180, 272_000],
  ['gpt-5-6-luna', 0.2, 0.02, 0.25, 1.2, 272_000],
  ['gpt-5-6-sol', 4, 0.4, 5, 20, 272_000],
  ['gpt-5-6-terra', 2, 0.2, 2.5, 12, 272_000],
  ['gpt-6-astra', 10, 1, 12.5, 50, 272_000],
  ['gpt-6-luna', 0.1, 0.01, 0.125, 0.5, 272_000],
  ['gpt-6-sol', 2, 0.2, 2.5, 10, 272_000],
  ['gpt-6-1-sol', 2, 0.1, 2.5, 10, 272_000],
  ['gpt-6-1-terra', 1, 0.05, 1.25, 5, 272_000],
  ['o1', 15, 7.5, null, 60, null],
  ['o1-pro', 150, null, null, 600, null],
  ['o3', 2, 0.5, null, 8, null],
  ['o3-mini', 1.1, 0.55, null, 4.4, null],
  ['o3-pro', 20, null, null, 80, null],
  ['o4-mini', 1.1, 0.275, null, 4.4, null],
]

const byName: ReadonlyMap<string, Price> = new Map(
  listed.map(([name, input, cachedInput, cacheWrittenInput, output, promptTokensMax]) => [
    name,
    { input, cached_input: cachedInput, cache_written_input: cacheWrittenInput, output, promptTokensMax },
  ]),
)
