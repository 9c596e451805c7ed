import type { WindowKind } from '../tokens/budget.ts'
import { noSizes, type StatedSizes } from './classification.ts'
import { readCount } from './token-numbers.ts'

/**
 * How one server words an overflow. The named groups say what its numbers are: `window`, `prompt`, `output`, `total` (prompt
 * and output). Patterns are matched against the words of `own-words.ts`, whose length is bounded; none of them nests a
 * repetition in a repetition, so that a hostile text costs linear time.
 */
export type OverflowSignature = {
  readonly provider: string
  readonly pattern: RegExp
  readonly sample: string
  /** Default: `total`. */
  readonly kind?: WindowKind
  /** Whether the server stopped counting, so that its prompt's size is a lower bound. */
  readonly isBound?: true
}

/** What the first signature that matches says of sizes; null where none does. What is no plausible number is left out. */
export function readSignature(words: string, signatures: readonly OverflowSignature[]): StatedSizes | null {
  for (const { pattern, kind = 'total', isBound = false } of signatures) {
    const groups = pattern.exec(words)?.groups
    if (groups === undefined) continue
    const window = readCount(groups['window'])
    const prompt = readCount(groups['prompt']) ?? 0
    return {
      ...noSizes,
      window: window !== null && window >= windowTokensMin ? { tokens: window, kind } : null,
      promptTokens: prompt === 0 ? null : { tokens: prompt, exact: !isBound },
      completionTokens: readCount(groups['output']),
      totalTokens: readCount(groups['total']),
    }
  }
  return null
}

/**
 * Wordings that the general form would misread, or in which too little is said for it. The first pattern that matches
 * is taken: wordings with more numbers stand first.
 */
export const overflowSignatures: readonly OverflowSignature[] = [
  {
    provider: 'vLLM 0.32, more output than the window',
    pattern: /max_tokens=(?<output>\d[\d,._]*) cannot be greater than max_model_len=(?<window>\d[\d,._]*)/i,
    sample: 'max_tokens=9000 cannot be greater than max_model_len=4096. Please request fewer output tokens.',
  },
  {
    provider: 'vLLM 0.15 to 0.17, NVIDIA NIM',
    pattern:
      /you passed (?<prompt>\d[\d,._]*) input tokens and requested (?<output>\d[\d,._]*) output tokens\. however, the model's context length is only (?<window>\d[\d,._]*) tokens/i,
    sample:
      "You passed 12289 input tokens and requested 4096 output tokens. However, the model's context length is only 16384 tokens, resulting in a maximum input length of 12288 tokens.",
    isBound: true,
  },
  {
    provider: 'vLLM 0.9 to 0.15, output limit named',
    pattern:
      /max_(?:completion_)?tokens'? is too large: (?<output>\d[\d,._]*) this model's maximum context length is (?<window>\d[\d,._]*) tokens and your request has (?<prompt>\d[\d,._]*) input tokens/i,
    sample:
      "'max_tokens' or 'max_completion_tokens' is too large: 4000. This model's maximum context length is 8192 tokens and your request has 5000 input tokens (4000 > 8192 - 5000).",
  },
  {
    provider: 'TGI, Together, prompt and output',
    pattern:
      /`inputs` tokens \+ `max_new_tokens` must be <= (?<window>\d[\d,._]*) given: (?<prompt>\d[\d,._]*) `inputs` tokens and (?<output>\d[\d,._]*) `max_new_tokens`/i,
    sample:
      'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens and 500 `max_new_tokens`',
  },
  {
    provider: 'TGI',
    pattern: /`inputs` must have less than (?<window>\d[\d,._]*) tokens\. given: (?<prompt>\d[\d,._]*)/i,
    sample: 'Input validation error: `inputs` must have less than 3072 tokens. Given: 5000',
    kind: 'input',
  },
  {
    provider: 'TensorRT-LLM',
    pattern:
      /sum of prompt length \((?<prompt>\d[\d,._]*)\).{1,40}should not exceed max_num_tokens \((?<window>\d[\d,._]*)\)/i,
    sample: 'The sum of prompt length (9000.0), query length (0) should not exceed max_num_tokens (8192)',
    kind: 'input',
  },
  {
    provider: 'TensorRT-LLM, no room for output',
    pattern: /max_seq_len \((?<window>\d[\d,._]*)\) - `splited_prompt_len` \((?<prompt>\d[\d,._]*)\)/i,
    sample:
      '`default_max_tokens` (-808) should be greater than 0, `default_max_tokens` (-808) = max_seq_len (8192) - `splited_prompt_len` (9000) - `query_token_len` (0)',
  },
  {
    provider: 'OpenAI, configured limit',
    pattern:
      /exceeds? the configured limit of (?<window>\d[\d,._]*) tokens(?:\. your messages resulted in (?<prompt>\d[\d,._]*) tokens)?/i,
    sample:
      'Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens.',
    kind: 'input',
  },
  {
    provider: 'Anthropic, prompt and output',
    pattern:
      /input length and `?max_tokens`? exceed context limit: (?<prompt>\d[\d,._]*) \+ (?<output>\d[\d,._]*) > (?<window>\d[\d,._]*)/i,
    sample:
      'input length and `max_tokens` exceed context limit: 199759 + 8192 > 200000, decrease input length',
  },
  {
    provider: 'Gemini',
    pattern:
      /input token count (?:\((?<prompt>\d[\d,._]*)\) )?exceeds the maximum number of tokens allowed \(?(?<window>\d[\d,._]*)/i,
    sample: 'The input token count (1066750) exceeds the maximum number of tokens allowed (1048575).',
    kind: 'input',
  },
  {
    provider: 'Bedrock Nova',
    pattern: /number of input tokens exceeds maximum length of (?<window>\d[\d,._]*)/i,
    sample: 'The number of input tokens exceeds maximum length of 300000',
    kind: 'input',
  },
  {
    provider: 'GitHub Copilot',
    pattern: /prompt token count of (?<prompt>\d[\d,._]*) exceeds the limit of (?<window>\d[\d,._]*)/i,
    sample: 'prompt token count of 391491 exceeds the limit of 128000',
    kind: 'input',
  },
  {
    provider: 'GitHub Models',
    pattern: /request body too large for .{1,80} model\. max size: (?<window>\d[\d,._]*) tokens/i,
    sample: 'Request body too large for gpt-4o model. Max size: 8000 tokens.',
    kind: 'input',
  },
  {
    provider: 'Cloudflare Workers AI',
    pattern:
      /input and maximum output tokens \((?<total>\d[\d,._]*)\) exceeded this model context window limit \((?<window>\d[\d,._]*)\)/i,
    sample:
      'AiError: The estimated number of input and maximum output tokens (35000) exceeded this model context window limit (24000)',
  },
  {
    provider: 'DashScope',
    pattern: /range of input length should be \[\d+, ?(?<window>\d[\d,._]*)\]/i,
    sample: 'InternalError.Algo.InvalidParameter: Range of input length should be [1, 983616]',
    kind: 'input',
  },
]

// --- internal ---

/** No model has a window this small: such a number is a code, a version or a joke. */
const windowTokensMin = 128
