import { finish, type Steps } from '../conversation/source.ts'
import { counterOver, vocabularySteps, type TokenCounter, type Vocabulary } from './bpe-counter.ts'
import type { Cut } from './piece-grammar.ts'
import type { RankFile } from './rank-table.ts'
import { cutFor } from './ratio.ts'

export type EncodingName = 'o200k_base' | 'cl100k_base' | 'o200k_digits' | 'o200k_apart'

/**
 * The encoding a model's text is counted in: OpenAI's own, and for others the one that cuts text as their tokenizers do
 * (docs/decisions/family-cuts.md). What remains of the difference is made up for by the ratio of `ratio.ts` and by
 * what the provider reports.
 */
export function encodingFor(model: string): EncodingName {
  if (cl100kModels.test(model)) return 'cl100k_base'
  return o200kCuts[cutFor(model)]
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

async function readCounter(name: EncodingName, pace: Pace): Promise<TokenCounter> {
  const { file, cut } = encodings[name]
  return counterOver(await loadVocabulary(file, pace), cut)
}

function loadVocabulary(file: FileName, pace: Pace): Promise<Vocabulary> {
  const known = vocabularies.get(file)
  if (known !== undefined) return known
  const loading = readVocabulary(file, pace)
  vocabularies.set(file, loading)
  loading.catch(() => vocabularies.delete(file))
  return loading
}

async function readVocabulary(name: FileName, { run, pause }: Pace): Promise<Vocabulary> {
  // A module is compiled in one piece, whatever its size.
  await pause()
  const file = await importRanks[name]()
  await pause()
  return run(vocabularySteps(file))
}

// gpt-4 and its dated, turbo and 32k forms, but not gpt-4o, gpt-4.1 and gpt-4.5; Azure writes 35 for 3.5.
const cl100kModels = /\bgpt-4(?![o.\d])|\bgpt-3\.?5|\btext-embedding-(?:ada-002|3-)/i

const o200kCuts = {
  own: 'o200k_base',
  digits: 'o200k_digits',
  apart: 'o200k_apart',
} as const satisfies Record<Cut, EncodingName>

const counters = new Map<EncodingName, Promise<TokenCounter>>()
const vocabularies = new Map<FileName, Promise<Vocabulary>>()

type FileName = 'o200k_base' | 'cl100k_base'

const encodings: Readonly<Record<EncodingName, { readonly file: FileName; readonly cut: Cut }>> = {
  o200k_base: { file: 'o200k_base', cut: 'own' },
  cl100k_base: { file: 'cl100k_base', cut: 'own' },
  o200k_digits: { file: 'o200k_base', cut: 'digits' },
  o200k_apart: { file: 'o200k_base', cut: 'apart' },
}

const importRanks = {
  o200k_base: async () => (await import('js-tiktoken/ranks/o200k_base')).default,
  cl100k_base: async () => (await import('js-tiktoken/ranks/cl100k_base')).default,
} as const satisfies Record<FileName, () => Promise<RankFile>>
