import type { StatedWindow } from '../../overflow/classification.ts'
import type { WindowKind } from '../../tokens/budget.ts'
import rows from './window-families.json' with { type: 'json' }

/** The window of a family of models. */
export type Family = {
  /** Matched against a name in small letters, with dashes for underscores, without what stands before a slash. */
  readonly pattern: RegExp
  readonly windowTokens: number
  readonly kind: WindowKind
  /** A name that this row is for. */
  readonly sample: string
}

/**
 * Windows by family of the models whose weights are open, and of their makers' own services. Whoever runs them started them
 * with a window of their own, and that server is asked before; this is what they take without being stretched.
 *
 * A row that stands further left in a name goes first, for names begin with what was tuned (`Qwen3-8B-DeepSeek-v3.2-Distill`);
 * of rows at one place the first here.
 *
 * @internal exported for tests
 */
export const openWeights = familiesOf(rows.openWeights)

/**
 * Models that only their makers serve, or who they let. The most specific row first; the figures are those that the makers
 * documented in November 2026, of several the smallest: a compaction too early is cheaper than an overflow.
 *
 * @internal exported for tests
 */
export const vendorModels = familiesOf(rows.vendors)

/**
 * The window of the family that a name belongs to, for names that no list has: dated versions, deployments, Ollama's tags,
 * fine-tunes. `name` is in small letters, with dashes for underscores, without what stands before a slash. Null where it is
 * of none.
 */
export function familyWindow(name: string): StatedWindow | null {
  const family = familyOf(name)
  const sizeTokens = sizeInName(name)
  if (family === null) {
    const isBelievable = sizeTokens !== null && sizeTokens <= unknownTokensMax
    return isBelievable ? { tokens: sizeTokens, kind: 'total' } : null
  }
  const isOpen = openWeights.includes(family)
  if (sizeTokens !== null && (isOpen || sizeTokens < family.windowTokens)) {
    return { tokens: sizeTokens, kind: 'total' }
  }
  return { tokens: family.windowTokens, kind: family.kind }
}

/**
 * The row for a name. Models with open weights go before those that only their maker serves: what is called after both was
 * made of the first and taught by the second (`Llama-3-8B-GPT-4o`), and whatever states a number of parameters or how it is
 * stored is no vendor's.
 *
 * @internal exported for tests
 */
export function familyOf(name: string): Family | null {
  const model = tunedModel(name)
  const places = openWeights.map((family) => ({ family, at: model.search(family.pattern) }))
  const found = places.filter(({ at }) => at !== -1)
  if (found.length > 0) return found.reduce((first, next) => (next.at < first.at ? next : first)).family
  if (marksOfWeights.test(model)) return null
  return vendorModels.find(({ pattern }) => pattern.test(model)) ?? null
}

/**
 * The tokens of a window that a name states: `-128k`, `-1m`, Bedrock's `:48k`. Null where it states none.
 */
export function sizeInName(name: string): number | null {
  const size = /(?:^|[-:])(4k|8k|16k|24k|32k|48k|64k|96k|128k|256k|262k|512k|1048k|1m)(?=$|[-:.])/.exec(
    tunedModel(name),
  )?.[1]
  if (size === undefined) return null
  const number = Number(size.slice(0, -1))
  if (size.endsWith('m')) return number * 1_000_000
  // Of 24 and 128 some mean thousands, some 1,024s.
  return [4, 8, 16, 32, 64].includes(number) ? number * 1024 : number * 1000
}

// --- internal ---

/** What limits the prompt alone stands under `input`. */
type Row = {
  readonly pattern: string
  readonly window: number | { readonly input: number }
  readonly sample: string
}

function familiesOf(byMaker: Readonly<Record<string, readonly Row[]>>): readonly Family[] {
  return Object.values(byMaker)
    .flat()
    .map(({ pattern, window, sample }) => ({
      pattern: new RegExp(pattern),
      windowTokens: typeof window === 'number' ? window : window.input,
      kind: typeof window === 'number' ? 'total' : 'input',
      sample,
    }))
}

/** What a name states of a model that nobody knows: above, it is as likely a number of parameters, or of examples. */
const unknownTokensMax = 262_000

/** What an organisation calls its fine-tune stands behind the model. */
function tunedModel(name: string): string {
  return name.replace(/^ft:([^:]+).*$/, '$1')
}

/** A number of parameters (`7b`, `8x22b`, `a3b`), or how weights are stored or were made. Google's one exception states eight billion. */
const marksOfWeights =
  /(?<!\bgemini-1[.-]5-flash)(?:^|[-:.])(?:\d+x|a)?\d+(?:\.\d+)?b(?=$|[-:.])|distil|gguf|ggml|gptq|\bawq|\bmlx|\bexl\d|abliterated|uncensored/
