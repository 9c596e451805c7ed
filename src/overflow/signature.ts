import type { WindowKind } from './classification.ts'

/**
 * How one server words an overflow. The named groups say what its numbers are: `window`; `prompt`, `functions`,
 * `tools`, `images` (summed up to the prompt); `output`; `total` (prompt and output); `excess` (prompt beyond
 * the window); `bound` (the prompt's size is a lower bound). Patterns are matched against the words of `own-words.ts`, whose length is bounded;
 * none of them nests a repetition in a repetition, so that a hostile text costs linear time.
 */
export type OverflowSignature = {
  readonly provider: string
  readonly pattern: RegExp
  readonly sample: string
  readonly kind: WindowKind
  /** `at-least`: the server stopped counting, its prompt size is a lower bound. */
  readonly promptIs: 'exact' | 'at-least'
}

export type StatedNumbers = {
  readonly windowTokens: number | null
  readonly promptTokens: number | null
  readonly outputTokens: number | null
  readonly totalTokens: number | null
}

/** What a wording states of sizes; `exact` is false where the prompt's is a lower bound. */
export type StatedSizes = {
  readonly numbers: StatedNumbers
  readonly kind: WindowKind
  readonly exact: boolean
}

export const noNumbers: StatedNumbers = {
  windowTokens: null,
  promptTokens: null,
  outputTokens: null,
  totalTokens: null,
}

/** No model has a window this small or this large: such a number is a code, a version or a joke. */
const windowTokensMin = 128
const tokensMax = 1_000_000_000

/** Reads the numbers of a match; what is absent, or no plausible number, is null. */
export function readNumbers(groups: Readonly<Record<string, string | undefined>>): StatedNumbers {
  const window = readCount(groups['window'])
  const windowTokens = window !== null && window >= windowTokensMin ? window : null
  const outputTokens = readCount(groups['output'])
  const totalTokens = readCount(groups['total'])
  const excess = readCount(groups['excess'])
  let promptTokens: number | null = null
  for (const name of ['prompt', 'functions', 'tools', 'images']) {
    const part = readCount(groups[name])
    if (part !== null) promptTokens = (promptTokens ?? 0) + part
  }
  if (promptTokens === null && excess !== null && windowTokens !== null) promptTokens = windowTokens + excess
  if (promptTokens === 0) promptTokens = null
  return { windowTokens, promptTokens, outputTokens, totalTokens }
}

/** `8192`, `8,192`, `8_192`, `8.192.000`, `72417.0`, with punctuation behind it; null for anything else. */
export function readCount(text: string | undefined): number | null {
  if (text === undefined) return null
  const bare = text.replaceAll(/[,_]/g, '').replace(/\.$/, '')
  const spelt = bare.split('.').length > 2 ? bare.replaceAll('.', '') : bare
  const count = spelt === '' ? Number.NaN : Math.ceil(Number(spelt))
  return Number.isSafeInteger(count) && count >= 0 && count <= tokensMax ? count : null
}
