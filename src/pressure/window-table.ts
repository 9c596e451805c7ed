import type { WindowKind } from './pressure.ts'

/**
 * Windows of models by name, as their own makers documented them in November 2026; the most specific row first. The last
 * resort before the default: the same name may have a smaller window elsewhere, and then the first refusal teaches it.
 */
export const windowTable: readonly {
  /** Matched against `modelName`: small letters, nothing before a slash. */
  readonly pattern: RegExp
  readonly windowTokens: number
  readonly kind: WindowKind
  /** A name that this row is for. */
  readonly sample: string
}[] = [
  // OpenAI. 1,050,000 in all, of which 128,000 are for output; above 272,000 the prompt costs double.
  { pattern: /\bgpt-(?:5\.[4-9]|[6-9])/, windowTokens: 922_000, kind: 'input', sample: 'openai/gpt-5.4' },
  // 400,000 in all.
  { pattern: /\bgpt-5-chat/, windowTokens: 128_000, kind: 'total', sample: 'gpt-5-chat-latest' },
  { pattern: /\bgpt-5/, windowTokens: 272_000, kind: 'input', sample: 'gpt-5-mini' },
  { pattern: /\bgpt-4\.1/, windowTokens: 1_047_576, kind: 'total', sample: 'gpt-4.1-mini' },
  {
    pattern: /gpt-4(?:o|\.5|-turbo|-1106|-0125|-vision)/,
    windowTokens: 128_000,
    kind: 'total',
    sample: 'gpt-4o-2024-11-20',
  },
  { pattern: /\bgpt-4-32k/, windowTokens: 32_768, kind: 'total', sample: 'gpt-4-32k' },
  { pattern: /\bgpt-4\b/, windowTokens: 8192, kind: 'total', sample: 'gpt-4-0613' },
  { pattern: /\bgpt-3\.?5/, windowTokens: 16_385, kind: 'total', sample: 'gpt-3.5-turbo' },
  { pattern: /\bo1-(?:mini|preview)/, windowTokens: 128_000, kind: 'total', sample: 'o1-mini' },
  { pattern: /\bo[134]\b/, windowTokens: 200_000, kind: 'total', sample: 'o4-mini' },
  { pattern: /\bgpt-oss/, windowTokens: 131_072, kind: 'total', sample: 'openai/gpt-oss-120b' },

  // Anthropic: up to 4.5, then everything later.
  {
    pattern: /claude-(?:[a-z]+-)?v?(?:[1-3]|4(?![-.](?:[6-9]|\d\d)(?!\d)))(?!\d)/,
    windowTokens: 200_000,
    kind: 'total',
    sample: 'anthropic/claude-sonnet-4-5-20250929',
  },
  { pattern: /claude/, windowTokens: 1_000_000, kind: 'total', sample: 'claude-opus-4-6' },

  { pattern: /gemini/, windowTokens: 1_048_576, kind: 'input', sample: 'google/gemini-2.5-pro' },
  { pattern: /grok-(?:4\.[5-9]|[5-9])/, windowTokens: 500_000, kind: 'total', sample: 'x-ai/grok-4.5' },
  { pattern: /deepseek-(?:v[4-9]|flash)/, windowTokens: 1_000_000, kind: 'total', sample: 'deepseek-v4' },
  { pattern: /kimi-k[3-9]/, windowTokens: 1_048_576, kind: 'total', sample: 'kimi-k3.1' },
  { pattern: /kimi-k2[.p]/, windowTokens: 262_144, kind: 'total', sample: 'moonshotai/kimi-k2.5' },
  { pattern: /glm-(?:5\.[2-9]|[6-9])/, windowTokens: 1_000_000, kind: 'total', sample: 'glm-5.2' },
  { pattern: /glm-4\.7/, windowTokens: 204_800, kind: 'total', sample: 'z-ai/glm-4.7' },
  { pattern: /minimax-m[3-9]/, windowTokens: 524_287, kind: 'total', sample: 'MiniMax-M3' },
  { pattern: /minimax-m2/, windowTokens: 204_800, kind: 'total', sample: 'MiniMax-M2.7' },
  // DashScope's own names; the open weights run with whatever window their server was started with.
  { pattern: /qwen[\d.]*-(?:plus|flash)/, windowTokens: 983_616, kind: 'input', sample: 'qwen3.6-plus' },
  { pattern: /mistral-large-(?:[4-9]\b)/, windowTokens: 1_048_576, kind: 'total', sample: 'mistral-large-4' },
  {
    pattern: /mistral-large-2512/,
    windowTokens: 262_144,
    kind: 'total',
    sample: 'mistralai/mistral-large-2512',
  },
  {
    pattern: /llama-?v?(?:3[.p][1-3]|4)/,
    windowTokens: 131_072,
    kind: 'total',
    sample: 'llama-3.3-70b-versatile',
  },
  { pattern: /llama-?v?3/, windowTokens: 8192, kind: 'total', sample: 'llama3-8b-8192' },
]
