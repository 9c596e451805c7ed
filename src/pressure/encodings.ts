import { finish, type Steps } from '../conversation/source.ts'
import { tokenCounterSteps, type TokenCounter } from './bpe-counter.ts'
import type { RankFile } from './rank-table.ts'

export const encodingNames = ['o200k_base', 'cl100k_base'] as const

export type EncodingName = (typeof encodingNames)[number]

/**
 * The encoding a model's text is counted in. Everything but OpenAI's older models is counted in o200k_base: where a model has
 * a tokeniser of its own, the ratio of `ratio.ts` and what the provider reports make up for the difference.
 */
export function encodingFor(model: string): EncodingName {
  return cl100kModels.test(model) ? 'cl100k_base' : 'o200k_base'
}

/** Runs paused work to its end, in one go or letting other work in between. */
export type RunSteps = <Result>(steps: Steps<Result>) => Result | Promise<Result>

/**
 * The counter of an encoding. Its rank file (1 to 2 MB) is read at the first call, by that call's `run`, in one go where
 * none is given; further calls share the counter.
 */
export function loadCounter(name: EncodingName, run: RunSteps = finish): Promise<TokenCounter> {
  const known = counters.get(name)
  if (known !== undefined) return known
  const loading = importRanks[name]().then((file) => run(tokenCounterSteps(file)))
  counters.set(name, loading)
  // A file that could not be read now may be readable later.
  loading.catch(() => counters.delete(name))
  return loading
}

// --- internal ---

// gpt-4 and its dated, turbo and 32k forms, but not gpt-4o, gpt-4.1 and gpt-4.5; Azure writes 35 for 3.5.
const cl100kModels = /\bgpt-4(?![o.\d])|\bgpt-3\.?5|\btext-embedding-(?:ada-002|3-)/i

const counters = new Map<EncodingName, Promise<TokenCounter>>()

const importRanks = {
  o200k_base: async () => (await import('js-tiktoken/ranks/o200k_base')).default,
  cl100k_base: async () => (await import('js-tiktoken/ranks/cl100k_base')).default,
} as const satisfies Record<EncodingName, () => Promise<RankFile>>
