import { runAtOnce, type Pausable } from '../json/source.ts'
import { counterOver, type Cut, vocabularySteps, type TokenCounter, type Vocabulary } from './bpe-counter.ts'
import type { EncodingName } from './tokenizer-families.ts'

/** How work is done beside other work. */
export type Pace = {
  /** Runs paused work to its end, letting other work in between. */
  readonly run: <Result>(steps: Pausable<Result>) => Promise<Result>
  /** Lets all other work in, before something that takes milliseconds and cannot be paused. */
  readonly pause: () => Promise<void>
}

/**
 * The counter of an encoding. Its rank file (1 to 2 MB) is read at the first call, at that call's pace, in one go where
 * none is given; further calls share the counter.
 */
export function loadCounter(name: EncodingName, pace = atOnce): Promise<TokenCounter> {
  const { file, cut } = encodings[name]
  return loadedOnce(counters, name, async () =>
    counterOver(await loadedOnce(vocabularies, file, async () => readVocabulary(file, pace)), cut),
  )
}

// --- internal ---

const atOnce: Pace = { run: async (steps) => runAtOnce(steps), pause: async () => {} }

const counters = new Map<EncodingName, Promise<TokenCounter>>()
const vocabularies = new Map<FileName, Promise<Vocabulary>>()

function loadedOnce<Name, Value>(
  loaded: Map<Name, Promise<Value>>,
  name: Name,
  load: () => Promise<Value>,
): Promise<Value> {
  const known = loaded.get(name)
  if (known !== undefined) return known
  const loading = load()
  loaded.set(name, loading)
  // A file that could not be read now may be readable later.
  loading.catch(() => loaded.delete(name))
  return loading
}

async function readVocabulary(name: FileName, { run, pause }: Pace): Promise<Vocabulary> {
  // A module is compiled in one piece, whatever its size.
  await pause()
  const file = await importRanks[name]()
  await pause()
  return run(vocabularySteps(file))
}

const importRanks = {
  o200k_base: async () => (await import('js-tiktoken/ranks/o200k_base')).default,
  cl100k_base: async () => (await import('js-tiktoken/ranks/cl100k_base')).default,
} as const

type FileName = keyof typeof importRanks

const encodings: Readonly<Record<EncodingName, { readonly file: FileName; readonly cut: Cut }>> = {
  o200k_base: { file: 'o200k_base', cut: 'own' },
  cl100k_base: { file: 'cl100k_base', cut: 'own' },
  o200k_digits: { file: 'o200k_base', cut: 'digits' },
  o200k_apart: { file: 'o200k_base', cut: 'apart' },
}
