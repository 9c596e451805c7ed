import type { WindowKind } from './pressure.ts'

/**
 * Windows by family, for names that no list has: dated versions, deployments, Ollama's tags. The most specific row first; the
 * figures are those that the makers documented in November 2026, of several the smallest: a stride too early is cheaper than
 * an overflow. Open weights run with whatever window their server was started with, and that server is asked before.
 */
export const windowFamilies: readonly {
  /** Matched against a name in small letters, with dashes for underscores, without what stands before a slash. */
  readonly pattern: RegExp
  readonly windowTokens: number
  readonly kind: WindowKind
  /** A name that this row is for. */
  readonly sample: string
}[] = [
  // OpenAI: from GPT-5 on, 128,000 of the window are kept for the reply.
  input(/\bgpt-5[.-]\d-(?:mini|nano)/, 272_000, 'gpt-5.4-mini-2026-03-17'),
  total(/\bgpt-5(?:[.-]\d)?-chat|codex-spark/, 128_000, 'gpt-5.1-chat-latest'),
  input(/\bgpt-(?:5[.-][4-9](?!\d)|[6-9](?!\d))/, 922_000, 'my-gpt-5.4-deployment'),
  input(/\bgpt-5/, 272_000, 'gpt-5-2025-08-07-eu'),
  total(/\bgpt-4[.-]?1(?!\d)/, 1_047_576, 'gpt-41-mini'),
  total(/gpt-4(?:o|[.-]5|-turbo|-1106|-0125|-vision)/, 128_000, 'gpt-4-1106-preview'),
  total(/\bgpt-4-32k/, 32_768, 'gpt-4-32k-0613'),
  total(/\bgpt-4\b/, 8192, 'gpt-4-0613'),
  total(/\bgpt-3[.-]?5/, 16_385, 'gpt-35-turbo'),
  total(/\bo1-(?:mini|preview)/, 128_000, 'o1-mini'),
  total(/\bo[134]\b|\bcodex-mini/, 200_000, 'o4-mini-deep-research'),
  total(/\bgpt-oss/, 131_072, 'gpt-oss:latest'),

  // Anthropic: up to 4.5, then everything later. Versions stand before the name or behind it.
  total(
    /claude-(?:[a-z]+-)?v?(?:[1-3]|4(?![-.](?:[6-9]|\d\d)(?!\d)))(?!\d)/,
    200_000,
    'claude-3-5-sonnet-v2@20241022',
  ),
  total(/claude/, 1_000_000, 'claude-sonnet-4-6-thinking'),

  // Google.
  input(/gemini.*-(?:image|tts)/, 32_768, 'gemini-2.5-flash-image'),
  input(/gemini/, 1_048_576, 'gemini-2.5-pro-preview-05-06'),
  total(/\bgemma-?4/, 131_072, 'gemma4:e4b'),
  total(/\bgemma-?3(?:n|[:-](?:270m|1b))/, 32_768, 'gemma3n:e4b'),
  total(/\bgemma-?3/, 131_072, 'gemma3:27b'),
  total(/\bgemma/, 8192, 'gemma2:9b'),

  // xAI.
  total(/\bgrok-(?:4[.-][5-9](?!\d)|[5-9](?!\d))/, 500_000, 'grok-4.5-fast'),
  total(/\bgrok-4[.-][1-3]\d?(?!\d)|\bgrok-4-fast/, 1_000_000, 'grok-4-1-fast-reasoning'),
  total(/\bgrok-(?:4|code)/, 256_000, 'grok-4-0709'),
  total(/\bgrok/, 131_072, 'grok-3-mini'),

  // DeepSeek; its distillates have their base model's window.
  total(/\bdeepseek-(?:v[4-9]|flash|chat$|reasoner$)/, 1_000_000, 'deepseek-v4'),
  total(/\bdeepseek[.-](?:coder-)?(?:v[23]|r1)/, 128_000, 'deepseek-r1:14b'),

  // Moonshot.
  total(/\bkimi-k[3-9]/, 1_048_576, 'kimi-k3.2'),
  total(/\bkimi-k2(?:[.p-]\d(?!\d)|-0905|-thinking|-turbo)/, 262_144, 'kimi-k2-thinking-turbo'),
  total(/\bkimi|moonshot-v1-128k/, 131_072, 'kimi-k2-0711-preview'),
  total(/moonshot-v1-32k/, 32_768, 'moonshot-v1-32k'),
  total(/moonshot-v1-8k/, 8192, 'moonshot-v1-8k-vision-preview'),

  // Zhipu.
  total(/\bglm-?(?:5[.p-][2-9](?!\d)|[6-9](?!\d))/, 1_000_000, 'glm-5.2-air'),
  total(/\bglm-?(?:5|4[.p-][67](?!\d|v))/, 200_000, 'glm-4.6:cloud'),
  total(/\bglm-?4[.p-]\dv/, 65_536, 'glm-4.5v-fp8'),
  total(/\bglm-?4/, 128_000, 'glm-4-plus'),

  // MiniMax: half of the model's million where others run it.
  total(/\bminimax-m[3-9]/, 512_000, 'minimax-m3-turbo'),
  total(/\bminimax-m2/, 196_608, 'minimax-m2:cloud'),

  // Qwen: DashScope's own names first, then the open weights without stretching.
  input(/\bqwen(?:3[.p-][5-9])?-(?:plus|flash)|\bqwen3[.p-][7-9]-max/, 983_616, 'qwen-plus-latest'),
  input(/\bqwen3-max/, 258_048, 'qwen3-max-preview'),
  total(/\bqwen-?3(?:[.p-][5-9]|-coder|-next|.*-2507)/, 262_144, 'qwen3-coder:30b'),
  total(/\bqwen-?3-vl|\bqwq/, 131_072, 'qwen3-vl:8b'),
  total(/\bqwen-?3/, 40_960, 'qwen3:8b'),
  total(/\bqwen/, 32_768, 'qwen2.5-coder:7b'),

  // Mistral.
  total(/\bmistral-large-[4-9](?!\d)/, 1_048_576, 'mistral-large-4-1'),
  total(
    /\bmistral-(?:large-(?:3|2512)|medium-3[.-]?[1-9])|\bdevstral-(?:2|small-2)(?!\d)/,
    262_144,
    'devstral-2',
  ),
  total(/\bmixtral-8x22b/, 65_536, 'mixtral-8x22b-instruct'),
  total(/\bmixtral|\bmistral(?:[:-]7b|$|:)|\bcodestral[:-]22b/, 32_768, 'mistral:7b'),
  total(
    /\b(?:co|de|magi|mini?)stral|\bmistral-(?:large|medium|small|nemo)|\bpixtral/,
    128_000,
    'mistral-large-2411',
  ),

  // Meta.
  total(/llama-?v?(?:3[.p-][1-3](?!\d|b)|4)/, 131_072, 'Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf'),
  total(/llama-?v?3/, 8192, 'llama3-8b-8192'),
  total(/code-?llama/, 16_384, 'codellama:13b'),
  total(/\bllama-?v?2/, 4096, 'llama2:7b'),

  // Others.
  total(/\bphi-?3.*-4k/, 4096, 'phi-3-mini-4k-instruct'),
  total(/\bphi-?4(?!-mini|-multi)/, 16_384, 'phi4:14b'),
  total(/\bphi-?[34]/, 131_072, 'phi-3.5-mini-instruct'),
  total(/\bcommand-(?:a|r)/, 128_000, 'command-r-plus'),
  total(/\bgranite-?(?:3[.-][1-9]|4)/, 131_072, 'granite4:micro'),
  total(/\bsonar/, 127_072, 'sonar-pro'),
]

// --- internal ---

type Family = (typeof windowFamilies)[number]

/** A window that holds the prompt and the reply. */
function total(pattern: RegExp, windowTokens: number, sample: string): Family {
  return { pattern, windowTokens, kind: 'total', sample }
}

/** A limit on the prompt alone. */
function input(pattern: RegExp, windowTokens: number, sample: string): Family {
  return { pattern, windowTokens, kind: 'input', sample }
}
