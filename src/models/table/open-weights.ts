import type { WindowKind } from '../../tokens/budget.ts'

/** The window of a family of models. */
export type Family = {
  /** Matched against a name in small letters, with dashes for underscores, without what stands before a slash. */
  readonly pattern: RegExp
  readonly windowTokens: number
  readonly kind: WindowKind
  /** A name that this row is for. */
  readonly sample: string
}

/** A window that holds the prompt and the reply. */
export function total(pattern: RegExp, windowTokens: number, sample: string): Family {
  return { pattern, windowTokens, kind: 'total', sample }
}

/** A limit on the prompt alone. */
export function input(pattern: RegExp, windowTokens: number, sample: string): Family {
  return { pattern, windowTokens, kind: 'input', sample }
}

/**
 * Windows by family of the models whose weights are open, and of their makers' own services. Whoever runs them started them
 * with a window of their own, and that server is asked before; this is what they take without being stretched.
 *
 * A row that stands further left in a name goes first, for names begin with what was tuned (`Qwen3-8B-DeepSeek-v3.2-Distill`);
 * of rows at one place the first here.
 */
export const openWeights: readonly Family[] = [
  total(/\bgpt-?oss/, 131_072, 'gpt-oss:latest'),

  // DeepSeek; its distillates have their base model's window.
  total(/\bdeepseek-(?:v[4-9]|flash|chat$|reasoner$)/, 1_000_000, 'deepseek-v4'),
  total(/\bdeepseek[.-](?:coder-|chat-)?(?:v[23]|r1)/, 128_000, 'deepseek-r1:14b'),
  total(/\bdeepseek-coder/, 16_384, 'deepseek-coder:6.7b'),

  // Moonshot.
  total(/\bkimi-k[3-9]/, 1_048_576, 'kimi-k3.2'),
  total(/\bkimi-k2(?:[.p-]\d(?!\d)|-(?:instruct-)?0905|-thinking|-turbo)/, 262_144, 'kimi-k2-thinking-turbo'),
  total(/\bmoonshot-v1-32k/, 32_768, 'moonshot-v1-32k'),
  total(/\bmoonshot-v1-8k/, 8192, 'moonshot-v1-8k-vision-preview'),
  total(/\bkimi|\bmoonshot-v1/, 131_072, 'kimi-k2-0711-preview'),

  // Zhipu.
  total(/\bglm-?(?:5[.p-][2-9](?!\d)|[6-9](?!\d|b))/, 1_000_000, 'glm-5.2-air'),
  total(/\bglm-?(?:5|4[.p-][67](?!\d|v))/, 200_000, 'glm-4.6:cloud'),
  total(/\bglm-?4[.p-]\dv/, 65_536, 'glm-4.5v-fp8'),
  total(/\bglm-?(?:4|z1)-\d+b-0414/, 32_768, 'GLM-4-32B-0414'),
  total(/\bglm-?4/, 128_000, 'glm-4-plus'),
  total(/\bchatglm/, 8192, 'chatglm3-6b'),

  // MiniMax: half of the model's million where others run it.
  total(/\bminimax-m[3-9]/, 512_000, 'minimax-m3-turbo'),
  total(/\bminimax-m2/, 196_608, 'minimax-m2:cloud'),
  total(/\bminimax-(?:m1|text)/, 1_000_000, 'MiniMax-M1-80k'),

  // Qwen: DashScope's own names first.
  input(/\bqwen(?:3[.p-][5-9])?-(?:plus|flash)|\bqwen3[.p-][7-9]-max/, 983_616, 'qwen-plus-latest'),
  input(/\bqwen3-max/, 258_048, 'qwen3-max-preview'),
  total(/\bqwen-?3(?:[.p-][5-9](?!\d|b)|-coder|-next|.*-2507)/, 262_144, 'qwen3-coder:30b'),
  total(/\bqwen-?3-?vl|\bqwq/, 131_072, 'qwen3-vl:8b'),
  total(/\bqwen-?3/, 40_960, 'qwen3:8b'),
  total(/\bqwen/, 32_768, 'qwen2.5-coder:7b'),

  // Mistral.
  total(/\bmistral-large-[4-9](?!\d)/, 1_048_576, 'mistral-large-4-1'),
  total(
    /\bmistral-(?:large-(?:3|2512)|medium-3[.-]?[1-9])|\bdevstral-(?:2|small-2)(?!\d)/,
    262_144,
    'devstral-2',
  ),
  total(/\bmi[sx]tral[:-]8x22b|\bwizardlm-?2.*8x22b/, 65_536, 'mixtral:8x22b'),
  total(/\bmistral-7b.*v0[.-]1/, 8192, 'mistral-7b-instruct-v0.1'),
  total(
    /\bmixtral|\bmistral(?:-7b|-tiny|$|:)|\bcodestral(?:[:-]22b|-2405)|\bmistral-(?:small|large).*-(?:2402|2409|2501)/,
    32_768,
    'mistral:7b-instruct',
  ),
  total(/\bmagistral/, 40_960, 'magistral:24b'),
  total(
    /\b(?:code|dev|mini)stral|\bmistral-(?:large|medium|small|nemo)|\bpixtral/,
    128_000,
    'mistral-large-2411',
  ),
  total(/\b(?:zephyr|openhermes|wizardlm-?2)/, 32_768, 'zephyr:7b'),

  // Meta, and what was made of its first models.
  total(/llama-?v?3.*-gradient/, 1_048_576, 'llama3-gradient:8b'),
  total(/llama-?v?(?:3[.p-]?[1-3](?!\d|b)|4(?!\d|b))/, 131_072, 'Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf'),
  total(/llama-?v?3(?!\d*b)/, 8192, 'llama3-8b-8192'),
  total(/\bcode-?llama/, 16_384, 'codellama:34b'),
  total(/llama-?v?2(?!\d*b)|\bvicuna|\bsolar\b|\bllava/, 4096, 'llama2:7b'),
  total(/\btiny-?llama|\bllama[:-]\d+b|\balpaca/, 2048, 'TinyLlama-1.1B-Chat-v1.0'),

  // Google's open models.
  total(/\bgemma-?4/, 131_072, 'gemma4:e4b'),
  total(/\bgemma-?3(?:n|[:-](?:270m|1b))/, 32_768, 'gemma3n:e4b'),
  total(/\b(?:med|translate)?gemma-?3|\b(?:med|translate)gemma/, 131_072, 'gemma3:27b'),
  total(/\b(?:code|shield)?gemma/, 8192, 'gemma2:9b'),

  // Microsoft.
  total(/\bphi-?3.*-4k/, 4096, 'phi-3-mini-4k-instruct'),
  total(/\bphi-?4(?:-mini)?-reasoning/, 32_768, 'phi4-reasoning:plus'),
  total(/\bphi-?4(?!-mini|-multi)/, 16_384, 'phi4:14b'),
  total(/\bphi-?[34]/, 131_072, 'phi-3.5-mini-instruct'),
  total(/\bphi-?[12]?\b/, 2048, 'phi-2'),

  // Others.
  total(/\bmarco-o1/, 32_768, 'marco-o1:7b'),
  total(/\bcommand-(?:a|r)/, 128_000, 'command-r-plus'),
  total(/\bcommand-light|^command$/, 4096, 'command-light'),
  total(/\baya/, 8192, 'aya-expanse:8b'),
  total(/\bgranite-?(?:3[.-][1-9]|4)/, 131_072, 'granite4:micro'),
  total(/\bgranite/, 4096, 'granite3-dense:8b'),
  total(/\bnemotron-mini/, 4096, 'nemotron-mini:4b'),
  total(/\bnemotron/, 131_072, 'nvidia-nemotron-nano-9b-v2'),
  total(/\bjamba/, 256_000, 'jamba-1.5-large'),
  total(/\bseed-oss/, 524_288, 'seed-oss-36b'),
  total(/\bmimo-v2/, 262_144, 'mimo-v2-flash'),
  total(/\bernie-4|\blongcat/, 131_072, 'ernie-4.5-300b-a47b'),
  total(/\byi-.*-200k/, 200_000, 'yi-34b-200k'),
  total(/\byi-(?:large|medium)/, 32_768, 'yi-large'),
  total(/\byi[:-]/, 4096, 'yi-1.5-9b-chat'),
  total(/\bfalcon-?3|\bexaone|\binternlm|\bdbrx|\bhunyuan/, 32_768, 'falcon3:10b'),
  total(/\bstarcoder-?2/, 16_384, 'starcoder2:15b'),
  total(/\bsmollm-?3/, 65_536, 'smollm3-3b'),
  total(/\bsmollm-?2|\bopenchat|\bstarling/, 8192, 'smollm2:1.7b'),
  total(/\bolmo-?3/, 65_536, 'olmo-3:7b'),
  total(/\bolmo|\bbaichuan|\bstablelm/, 4096, 'olmo2:7b'),
]
