import type { OverflowSignature } from './signature.ts'

/** Servers that people run themselves. The first pattern that matches is taken: wordings with more numbers stand first. */
export const serverSignatures: readonly OverflowSignature[] = [
  {
    // The tokeniser is cut off at window − output + 1, so the prompt's size is a bound, "one token over, every time".
    provider: 'vLLM 0.18 and later, prompt cut off',
    pattern:
      /context length is (?<window>\d[\d,._]*) tokens\. however, you requested (?<output>\d[\d,._]*) output tokens and your prompt contains at least (?<prompt>\d[\d,._]*) input tokens/i,
    sample:
      "This model's maximum context length is 32768 tokens. However, you requested 4096 output tokens and your prompt contains at least 28673 input tokens, for a total of at least 32769 tokens.",
    kind: 'total',
    promptIs: 'at-least',
  },
  {
    provider: 'vLLM 0.18 and later',
    pattern:
      /context length is (?<window>\d[\d,._]*) tokens\. however, you requested (?<output>\d[\d,._]*) output tokens and your prompt contains (?<prompt>\d[\d,._]*) input tokens(?:, for a total of (?<total>\d[\d,._]*) tokens)?/i,
    sample:
      "This model's maximum context length is 16384 tokens. However, you requested 8000 output tokens and your prompt contains 9000 input tokens, for a total of 17000 tokens (9000 + 8000 = 17000 > 16384).",
    kind: 'total',
    promptIs: 'exact',
  },
  {
    provider: 'vLLM 0.18 and later, too many characters to count',
    pattern:
      /context length is (?<window>\d[\d,._]*) tokens\. however, you requested (?<output>\d[\d,._]*) output tokens and your prompt contains \d[\d,._]* characters/i,
    sample:
      "This model's maximum context length is 8192 tokens. However, you requested 16 output tokens and your prompt contains 1046529 characters (more than 1046528 characters, which is the upper bound for 8176 input tokens).",
    kind: 'total',
    promptIs: 'at-least',
  },
  {
    provider: 'vLLM 0.15 to 0.17, NVIDIA NIM',
    pattern:
      /you passed (?<prompt>\d[\d,._]*) input tokens and requested (?<output>\d[\d,._]*) output tokens\. however, the model's context length is only (?<window>\d[\d,._]*) tokens/i,
    sample:
      "You passed 12289 input tokens and requested 4096 output tokens. However, the model's context length is only 16384 tokens, resulting in a maximum input length of 12288 tokens.",
    kind: 'total',
    promptIs: 'at-least',
  },
  {
    provider: 'vLLM 0.15 to 0.17, too many characters to count',
    pattern:
      /you passed \d[\d,._]* input characters and requested (?<output>\d[\d,._]*) output tokens\. however, the model's context length is only (?<window>\d[\d,._]*) tokens/i,
    sample:
      "You passed 900000 input characters and requested 512 output tokens. However, the model's context length is only 8192 tokens, resulting in a maximum input length of 7680 tokens (at most 491520 characters).",
    kind: 'total',
    promptIs: 'at-least',
  },
  {
    provider: 'vLLM 0.9 to 0.15, output limit named',
    pattern:
      /max_(?:completion_)?tokens'? is too large: (?<output>\d[\d,._]*) this model's maximum context length is (?<window>\d[\d,._]*) tokens and your request has (?<prompt>\d[\d,._]*) input tokens/i,
    sample:
      "'max_tokens' or 'max_completion_tokens' is too large: 4000. This model's maximum context length is 8192 tokens and your request has 5000 input tokens (4000 > 8192 - 5000).",
    kind: 'total',
    promptIs: 'exact',
  },
  {
    provider: 'vLLM 0.9 to 0.15',
    pattern:
      /maximum context length is (?<window>\d[\d,._]*) tokens(?:\. however,| and) your request has (?<prompt>\d[\d,._]*) input tokens/i,
    sample:
      "This model's maximum context length is 8192 tokens. However, your request has 9001 input tokens. Please reduce the length of the input messages.",
    kind: 'total',
    promptIs: 'exact',
  },
  {
    provider: 'vLLM, multimodal',
    pattern:
      /prompt \(length (?<prompt>\d[\d,._]*)\) is longer than the maximum model length of (?<window>\d[\d,._]*)/i,
    sample: 'The decoder prompt (length 12324) is longer than the maximum model length of 8192.',
    kind: 'total',
    promptIs: 'exact',
  },
  {
    provider: 'SGLang, Together',
    pattern:
      /input \((?<prompt>\d[\d,._]*) tokens\) is longer than the model's context length \((?<window>\d[\d,._]*) tokens\)/i,
    sample: "The input (50000 tokens) is longer than the model's context length (40960 tokens).",
    kind: 'total',
    promptIs: 'exact',
  },
  {
    provider: 'SGLang, prompt and output',
    pattern:
      /maximum context length of (?<window>\d[\d,._]*) tokens\. you requested a total of (?<total>\d[\d,._]*) tokens: (?<prompt>\d[\d,._]*) tokens from the input messages and (?<output>\d[\d,._]*) tokens for the completion/i,
    sample:
      "Requested token count exceeds the model's maximum context length of 32768 tokens. You requested a total of 34000 tokens: 30000 tokens from the input messages and 4000 tokens for the completion.",
    kind: 'total',
    promptIs: 'exact',
  },
  {
    provider: 'llama.cpp, LocalAI',
    pattern:
      /request \((?<prompt>\d[\d,._]*) tokens\) exceeds the available context size \((?<window>\d[\d,._]*) tokens\)/i,
    sample: 'request (13000 tokens) exceeds the available context size (8192 tokens), try increasing it',
    kind: 'total',
    promptIs: 'exact',
  },
  {
    provider: 'llama.cpp before October 2025',
    pattern: /exceeds the available context size/i,
    sample:
      'the request exceeds the available context size. try increasing the context size or enable context shift',
    kind: 'total',
    promptIs: 'exact',
  },
  {
    provider: 'llama.cpp, full while generating',
    pattern: /context (?:size|length|window) (?:has been |was |is )?exceeded/i,
    sample: 'Context size has been exceeded.',
    kind: 'total',
    promptIs: 'exact',
  },
  {
    provider: 'ds4',
    pattern:
      /prompt has (?<prompt>\d[\d,._]*) tokens, but the configured context size is (?<window>\d[\d,._]*) tokens/i,
    sample: 'Prompt has 70000 tokens, but the configured context size is 65536 tokens',
    kind: 'total',
    promptIs: 'exact',
  },
  {
    provider: 'a local server with status 404',
    pattern: /context limit is (?<window>\d[\d,._]*) tokens; prompt=(?<prompt>\d[\d,._]*) leaves/i,
    sample: 'Context limit is 49152 tokens; prompt=51402 leaves 0 output tokens, below the minimum 16',
    kind: 'total',
    promptIs: 'exact',
  },
  {
    provider: 'LM Studio',
    pattern:
      /keep the first (?<prompt>\d[\d,._]*) tokens when context the overflows.{1,60}context length of only (?<window>\d[\d,._]*) tokens/i,
    sample:
      'Trying to keep the first 6269 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.',
    kind: 'total',
    promptIs: 'exact',
  },
  {
    // opencode #11141, continue #11279.
    provider: 'LM Studio 0.4',
    pattern: /with n_keep \((?<prompt>\d[\d,._]*)\) >= n_ctx \((?<window>\d[\d,._]*)\)/i,
    sample: 'Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)',
    kind: 'total',
    promptIs: 'exact',
  },
  {
    provider: 'LM Studio, tokens to keep',
    pattern:
      /tokens to keep from the initial prompt is greater than the context length(?: \(n_keep: (?<prompt>\d[\d,._]*) ?>= n_ctx: (?<window>\d[\d,._]*)\))?/i,
    sample:
      'The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 13055>= n_ctx: 4096).',
    kind: 'total',
    promptIs: 'exact',
  },
  {
    provider: 'Ollama without context shift',
    pattern: /prompt is longer than the context length currently available/i,
    sample:
      'the prompt is longer than the context length currently available to the model; shorten the prompt',
    kind: 'total',
    promptIs: 'exact',
  },
  {
    provider: 'TGI, Together, prompt and output',
    pattern:
      /`inputs` tokens \+ `max_new_tokens` must be <= (?<window>\d[\d,._]*) given: (?<prompt>\d[\d,._]*) `inputs` tokens and (?<output>\d[\d,._]*) `max_new_tokens`/i,
    sample:
      'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens and 500 `max_new_tokens`',
    kind: 'total',
    promptIs: 'exact',
  },
  {
    provider: 'TGI',
    pattern: /`inputs` must have less than (?<window>\d[\d,._]*) tokens\. given: (?<prompt>\d[\d,._]*)/i,
    sample: 'Input validation error: `inputs` must have less than 3072 tokens. Given: 5000',
    kind: 'input',
    promptIs: 'exact',
  },
  {
    provider: 'TensorRT-LLM',
    pattern:
      /sum of prompt length \((?<prompt>\d[\d,._]*)\).{1,40}should not exceed max_num_tokens \((?<window>\d[\d,._]*)\)/i,
    sample: 'The sum of prompt length (9000.0), query length (0) should not exceed max_num_tokens (8192)',
    kind: 'input',
    promptIs: 'exact',
  },
  {
    provider: 'TensorRT-LLM, no room for output',
    pattern: /max_seq_len \((?<window>\d[\d,._]*)\) - `splited_prompt_len` \((?<prompt>\d[\d,._]*)\)/i,
    sample:
      '`default_max_tokens` (-808) should be greater than 0, `default_max_tokens` (-808) = max_seq_len (8192) - `splited_prompt_len` (9000) - `query_token_len` (0)',
    kind: 'total',
    promptIs: 'exact',
  },
  {
    // llama-cpp-python #120, #416.
    provider: 'llama-cpp-python, as a library',
    pattern:
      /requested tokens (?:\((?<prompt>\d[\d,._]*)\) )?exceed context window of (?<window>\d[\d,._]*)/i,
    sample: 'Requested tokens (700) exceed context window of 512',
    kind: 'total',
    promptIs: 'exact',
  },
  {
    provider: 'mlx-serve',
    pattern: /prompt exceeds maximum context length/i,
    sample: 'Prompt exceeds maximum context length',
    kind: 'total',
    promptIs: 'exact',
  },
]
