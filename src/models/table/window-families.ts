import { input, openWeights, total, type Family } from './open-weights.ts'
import type { WindowKind } from '../../tokens/budget.ts'

/**
 * The window of the family that a name belongs to, for names that no list has: dated versions, deployments, Ollama's tags,
 * fine-tunes. `name` is in small letters, with dashes for underscores, without what stands before a slash. Null where it is
 * of none.
 */
export function familyWindow(name: string): { readonly tokens: number; readonly kind: WindowKind } | null {
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

/**
 * Models that only their makers serve, or who they let. The most specific row first; the figures are those that the makers
 * documented in November 2026, of several the smallest: a compaction too early is cheaper than an overflow.
 *
 * @internal exported for tests
 */
export const vendorModels: readonly Family[] = [
  // OpenAI: from GPT-5 on, 128,000 of the window are kept for the reply. Deployments leave out dashes and dots.
  input(/\bgpt-?5[.-]\d-(?:mini|nano)/, 272_000, 'gpt-5.4-mini-2026-03-17'),
  total(/\bgpt-?5(?:[.-]\d)?-chat|codex-spark/, 128_000, 'gpt-5.1-chat-latest'),
  input(/\bgpt-?(?:5[.-][4-9](?!\d)|[6-9](?!\d))/, 922_000, 'my-gpt-5.4-deployment'),
  input(/\bgpt-?5/, 272_000, 'gpt-5-2025-08-07-eu'),
  total(/\bgpt-?4[.-]?1(?!\d)/, 1_047_576, 'gpt-41-mini'),
  total(
    /gpt-?4(?:-?o(?:mni|mini|\b)|[.-]?5|-?turbo|-1106|-0125|-?vision|v\b)/,
    128_000,
    'gpt-4-1106-preview',
  ),
  total(/\bgpt-?4-32k/, 32_768, 'gpt-4-32k-0613'),
  total(/\bgpt-?4\b/, 8192, 'gpt-4-0613'),
  total(/\bgpt-?3[.-]?5-turbo-(?:0301|0613)/, 4096, 'gpt-35-turbo-0613'),
  total(/\bgpt-?3[.-]?5/, 16_385, 'gpt-35-turbo'),
  total(/^(?:(?:openai|azure)[.-])?o1-(?:mini|preview)/, 128_000, 'o1-mini'),
  total(/^(?:(?:openai|azure)[.-])?o[134]\b|\bcodex-mini/, 200_000, 'o4-mini-deep-research'),

  // Anthropic: the first ones, up to 4.5, then everything later. Versions stand before the name or behind it.
  total(/\bclaude-?(?:instant|v?1\b|v?2(?!\d|[.:-]1(?!\d)))/, 100_000, 'claude-2.0'),
  total(
    /\bclaude-?(?:[a-z]+-?)?v?(?:[12](?!\d)|3|4(?![.-]?(?:[6-9]|\d\d)(?!\d)))/,
    200_000,
    'claude-3-5-sonnet-v2@20241022',
  ),
  total(/\bclaude/, 1_000_000, 'claude-sonnet-4-6-thinking'),

  // Google.
  input(/\bgemini.*-native-audio/, 131_072, 'gemini-2.5-flash-native-audio-preview-09-2025'),
  input(/\bgemini.*-(?:image|tts|live)\b|\bgemini-live/, 32_768, 'gemini-2.5-flash-image'),
  input(/\bgemini-?1[.-]0/, 30_720, 'gemini-1.0-pro'),
  input(/\bgemini/, 1_048_576, 'gemini-2.5-pro-preview-05-06'),

  // xAI.
  total(/\bgrok-(?:4[.-][5-9](?!\d)|[5-9](?!\d))/, 500_000, 'grok-4.5-fast'),
  total(/\bgrok-4[.-][1-3]\d?(?!\d)|\bgrok-4-fast/, 1_000_000, 'grok-4-1-fast-reasoning'),
  total(/\bgrok-(?:4|code)/, 256_000, 'grok-4-0709'),
  total(/\bgrok-2-vision/, 32_768, 'grok-2-vision-1212'),
  total(/\bgrok/, 131_072, 'grok-3-mini'),

  total(/\bsonar/, 127_072, 'sonar-pro'),
]

// --- internal ---

/** What a name states of a model that nobody knows: above, it is as likely a number of parameters, or of examples. */
const unknownTokensMax = 262_000

/** What an organisation calls its fine-tune stands behind the model. */
function tunedModel(name: string): string {
  return name.replace(/^ft:([^:]+).*$/, '$1')
}

/** A number of parameters (`7b`, `8x22b`, `a3b`), or how weights are stored or were made. Google's one exception states eight billion. */
const marksOfWeights =
  /(?<!\bgemini-1[.-]5-flash)(?:^|[-:.])(?:\d+x|a)?\d+(?:\.\d+)?b(?=$|[-:.])|distil|gguf|ggml|gptq|\bawq|\bmlx|\bexl\d|abliterated|uncensored/
