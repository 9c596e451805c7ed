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

/** How work is done beside other work. */
export type Pace = {
  /** Runs paused work to its end, letting other work in between. */
  readonly run: <Result>(steps: Steps<Result>) => Promise<Result>
  /** Lets all other work in, before something that takes milliseconds and cannot be paused. */
  readonly pause: () => Promise<void>
}

/**
 * The counter of an encoding. Its rank file (1 to 2 MB) is read at the first call, at that call's pace, in one go where
 * none is given; further calls share the counter.
 */
export function loadCounter(name: EncodingName, pace = atOnce): Promise<TokenCounter> {
  const known = counters.get(name)
  if (known !== undefined) return known
  const loading = readCounter(name, pace)
  counters.set(name, loading)
  // A file that could not be read now may be readable later.
  loading.catch(() => counters.delete(name))
  return loading
}

// --- internal ---

const atOnce: Pace = { run: async (steps) => finish(steps), pause: async () => {} }

async function readCounter(name: EncodingName, { run, pause }: Pace): Promise<TokenCounter> {
  // A module is compiled in one piece, whatever its size.
  await pause()
  const file = await importRanks[name]()
  await pause()
  return run(tokenCounterSteps(file))
}

// gpt-4 and its dated, turbo and 32k forms, but not gpt-4o, gpt-4.1 and gpt-4.5; Azure writes 35 for 3.5.
const cl100kModels = /\bgpt-4(?![o.\d])|\bgpt-3\.?5|\btext-embedding-(?:ada-002|3-)/i

const counters = new Map<EncodingName, Promise<TokenCounter>>()

const importRanks = {
  o200k_base: async () => (await import('js-tiktoken/ranks/o200k_base')).default,
  cl100k_base: async () => (await import('js-tiktoken/ranks/cl100k_base')).default,
} as const satisfies Record<EncodingName, () => Promise<RankFile>>
