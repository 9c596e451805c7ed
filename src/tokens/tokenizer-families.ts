import rows from './model-families.json' with { type: 'json' }

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
 * Finds the row of a table of families (model-families.json) that is for a model: the first whose pattern its name matches,
 * since the most specific stand first.
 */
export function familyFinder<Row extends { readonly pattern: string }>(
  table: readonly Row[],
): (model: string) => Row | undefined {
  const patterns = table.map(({ pattern }) => new RegExp(pattern))
  /** A request asks for its model's several times. */
  let latest: { readonly model: string; readonly row: Row | undefined } | null = null
  return (model) => {
    if (latest?.model === model) return latest.row
    const name = modelName(model)
    const row = table[patterns.findIndex((pattern) => pattern.test(name))]
    latest = { model, row }
    return row
  }
}

/**
 * The encoding a model's text is counted in: OpenAI's own, and for others the one that cuts text as their tokenizers do
 * (docs/decisions/token-counter.md). What remains of the difference is made up for by the starting ratio and by what the
 * provider reports.
 */
export function encodingFor(model: string): EncodingName {
  if (cl100kModels.test(model)) return 'cl100k_base'
  return familyEncoding(familyOf(model))
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
 * the model's family, until answers have told (docs/decisions/counting.md).
 */
export function startingRatio(
  model: string,
  set: { readonly ratio: number | null; readonly encoding: EncodingName | 'auto' } = unset,
): FoundRatio {
  if (set.ratio !== null) return { ratio: set.ratio, source: 'profile', family: null }
  const found = familyOf(model)
  if (found === undefined) return { ratio: unknownRatio, source: 'unknown', family: null }
  const { family, ratio, ratioUncut = ratio } = found
  const isUncut = set.encoding !== 'auto' && set.encoding !== familyEncoding(found)
  return { ratio: isUncut ? ratioUncut : ratio, source: 'family', family }
}

/** Whether a model's name tells its family: a deployment or an alias may have any. */
export function hasFamily(model: string): boolean {
  return familyOf(model) !== undefined
}

// --- internal ---

type StartingRatio = {
  readonly family: string
  readonly pattern: string
  /** A name of the family. */
  readonly sample: string
  readonly ratio: number
  readonly ratioUncut?: number
  /** How its tokenizer cuts text, where not as OpenAI's: see `Cut`. */
  readonly digits?: boolean
  readonly apart?: boolean
}

/**
 * `ratio`: the upper end of what was measured in November 2026 against o200k_base, or what it becomes when text is cut as the
 * family cuts it: too early a compaction is cheaper than an overflow. `ratioUncut`: that against a count in which text is cut
 * otherwise, where it is another. For OpenAI's own models the counter is exact.
 */
const startingRatios: readonly StartingRatio[] = rows.ratios

const familyOf = familyFinder(startingRatios)

function familyEncoding(family: StartingRatio | undefined): EncodingName {
  if (family?.digits === true) return 'o200k_digits'
  return family?.apart === true ? 'o200k_apart' : 'o200k_base'
}

const unset = { ratio: null, encoding: 'auto' } as const

const unknownRatio = 1.15

// gpt-4 and its dated, turbo and 32k forms, but not gpt-4o, gpt-4.1 and gpt-4.5; Azure writes 35 for 3.5.
const cl100kModels = /\bgpt-4(?![o.\d])|\bgpt-3\.?5|\btext-embedding-(?:ada-002|3-)/i
