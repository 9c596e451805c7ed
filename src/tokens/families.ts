import type { Cut } from './piece-grammar.ts'

export type EncodingName = 'o200k_base' | 'cl100k_base' | 'o200k_digits' | 'o200k_apart'

/**
 * A model's name as the tables of this folder match it: in small letters and without what stands before the last slash, so
 * that `openai/gpt-4o` and `accounts/fireworks/models/llama-v3p1-70b` read like `gpt-4o` and `llama-v3p1-70b`.
 */
export function modelName(model: string): string {
  return model
    .slice(model.lastIndexOf('/') + 1)
    .trim()
    .toLowerCase()
}

/**
 * The encoding a model's text is counted in: OpenAI's own, and for others the one that cuts text as their tokenizers do
 * (docs/decisions/family-cuts.md). What remains of the difference is made up for by the starting ratio and by what the
 * provider reports.
 */
export function encodingFor(model: string): EncodingName {
  if (cl100kModels.test(model)) return 'cl100k_base'
  const cut = familyOf(model)?.cut ?? 'own'
  return cut === 'own' ? 'o200k_base' : `o200k_${cut}`
}

/** A starting ratio: the provider's count for one token of ours, before anything was reported, and where it comes from. */
export type FoundRatio = {
  readonly ratio: number
  /** The profile's own, that of the family which the model's name tells, or a guess for all others. */
  readonly source: 'profile' | 'family' | 'unknown'
  readonly family: string | null
}

/**
 * The starting ratio of a model under a profile that may name one itself, or another encoding than the family's: a guess by
 * the model's family, until answers have told (docs/decisions/true-numbers.md).
 */
export function startingRatio(
  model: string,
  set: { readonly ratio: number | null; readonly encoding: EncodingName | 'auto' } = unset,
): FoundRatio {
  if (set.ratio !== null) return { ratio: set.ratio, source: 'profile', family: null }
  const found = familyOf(model)
  if (found === undefined) return { ratio: unknownRatio, source: 'unknown', family: null }
  const { family, ratio, ratioUncut = ratio, cut = 'own' } = found
  const isUncut = set.encoding !== 'auto' && set.encoding !== `o200k_${cut}`
  return { ratio: isUncut ? ratioUncut : ratio, source: 'family', family }
}

/** Whether a model's name tells its family: a deployment or an alias may have any. */
export function hasFamily(model: string): boolean {
  return familyOf(model) !== undefined
}

/**
 * Most specific first. Measured ranges against o200k_base, or what it becomes when text is cut as the family cuts it, in
 * November 2026, and the upper end of each: too early a compaction is cheaper than an overflow. For OpenAI's own models the
 * counter is exact.
 *
 * @internal exported for tests
 */
export const startingRatios: readonly StartingRatio[] = [
  {
    family: 'OpenAI',
    pattern: /gpt-?[3-9]|\bgpt-oss|\bo[1-9]\b|\bcodex\b|computer-use|text-embedding/,
    sample: 'gpt-4o',
    ratio: 1,
  },
  // The old tokeniser: 1.05 to 1.2. Versions stand before the name (claude-3-5-sonnet) or behind it (claude-sonnet-4-6).
  {
    family: 'Claude up to 4.6',
    pattern: /claude-(?:[a-z]+-)?v?(?:[1-3]|4(?![-.](?:[7-9]|\d\d)(?!\d)))(?!\d)/,
    sample: 'claude-sonnet-4-6',
    ratio: 1.2,
  },
  // The new one: up to 1.7 in English prose, 1.0 in Chinese.
  { family: 'Claude from 4.7 on', pattern: /claude/, sample: 'claude-opus-5', ratio: 1.5 },
  { family: 'Llama 3 and later', pattern: /llama-?v?[3-9]/, sample: 'llama-3.3-70b-instruct', ratio: 1.05 },
  {
    family: 'Llama 2',
    pattern: /llama|vicuna/,
    sample: 'llama-2-7b-chat',
    cut: 'apart',
    ratio: 1.15,
    ratioUncut: 1.4,
  },
  {
    family: 'Qwen',
    pattern: /qwen|qwq|qvq/,
    sample: 'qwen3-coder',
    cut: 'digits',
    ratio: 1.05,
    ratioUncut: 1.1,
  },
  { family: 'DeepSeek', pattern: /deepseek/, sample: 'deepseek-chat', ratio: 1.1 },
  // Counted with Gemma's published vocabulary, most recorded prompts of Gemini 3 come out to within a token or two.
  {
    family: 'Gemini, Gemma',
    pattern: /gemini|gemma/,
    sample: 'gemini-2.5-pro',
    cut: 'apart',
    ratio: 1,
    ratioUncut: 1.15,
  },
  // 32,000 SentencePiece tokens.
  {
    family: 'older Mistral',
    pattern: /mixtral|mistral-7b|codestral-22b|open-mistral-7b/,
    sample: 'mixtral-8x7b',
    cut: 'apart',
    ratio: 1.15,
    ratioUncut: 1.4,
  },
  {
    family: 'Mistral',
    pattern: /mistral|ministral|devstral|codestral|magistral|pixtral/,
    sample: 'mistral-large-2512',
    cut: 'digits',
    ratio: 1.1,
  },
]

// --- internal ---

type StartingRatio = {
  readonly family: string
  readonly pattern: RegExp
  /** A name of the family. */
  readonly sample: string
  readonly ratio: number
  /** How its tokenizer cuts text, where not as OpenAI's. */
  readonly cut?: Cut
  /** The ratio to a count in which text is cut otherwise, where it is another. */
  readonly ratioUncut?: number
}

const unset = { ratio: null, encoding: 'auto' } as const

const unknownRatio = 1.15

// gpt-4 and its dated, turbo and 32k forms, but not gpt-4o, gpt-4.1 and gpt-4.5; Azure writes 35 for 3.5.
const cl100kModels = /\bgpt-4(?![o.\d])|\bgpt-3\.?5|\btext-embedding-(?:ada-002|3-)/i

function familyOf(model: string): StartingRatio | undefined {
  const name = modelName(model)
  return startingRatios.find(({ pattern }) => pattern.test(name))
}
