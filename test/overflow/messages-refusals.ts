import type { AnswerClass, Remedy } from '../../src/overflow/classification.ts'

/** An error as servers of Anthropic's Messages state it, and what it means. */
export type Refusal = {
  readonly name: string
  readonly status: number
  readonly type: string
  readonly message: string
  /** What stands beside type and message. */
  readonly beside?: Readonly<Record<string, unknown>>
  readonly class: AnswerClass
  readonly remedy?: Remedy
  /** The window and the prompt that it states. */
  readonly sizes?: readonly [windowTokens: number, promptTokens: number]
}

const overflow = { status: 400, type: 'invalid_request_error', class: 'overflow' } as const

/** Errors that a shorter prompt cures, of Anthropic and of servers that speak its dialect in words of their own. */
const overflows: readonly Refusal[] = [
  {
    ...overflow,
    name: 'Anthropic',
    message: 'prompt is too long: 219898 tokens > 200000 maximum',
    sizes: [200_000, 219_898],
  },
  {
    ...overflow,
    name: 'Anthropic up to Claude 4, whose prompt fits',
    message:
      'input length and `max_tokens` exceed context limit: 188059 + 20000 > 200000, decrease input length or `max_tokens` and try again',
    sizes: [200_000, 188_059],
    remedy: 'less-output',
  },
  {
    ...overflow,
    name: 'Anthropic up to Claude 4, whose prompt does not',
    message:
      'input length and `max_tokens` exceed context limit: 201059 + 20000 > 200000, decrease input length or `max_tokens` and try again',
    sizes: [200_000, 201_059],
    remedy: 'compact',
  },
  {
    ...overflow,
    name: 'llama.cpp',
    type: 'exceed_context_size_error',
    message: 'request (41234 tokens) exceeds the available context size (32768 tokens), try increasing it',
    beside: { code: 400, n_prompt_tokens: 41_234, n_ctx: 32_768 },
    sizes: [32_768, 41_234],
  },
  {
    ...overflow,
    name: 'llama.cpp behind a router that calls every fault its own',
    status: 500,
    type: 'api_error',
    message: 'request (41234 tokens) exceeds the available context size (32768 tokens), try increasing it',
    sizes: [32_768, 41_234],
  },
  {
    ...overflow,
    name: 'vLLM',
    type: 'BadRequestError',
    message:
      "This model's maximum context length is 32768 tokens. However, you requested 4096 output tokens and your prompt contains 30000 input tokens, for a total of 34096 tokens (30000 + 4096 = 34096 > 32768).",
    sizes: [32_768, 30_000],
  },
  {
    ...overflow,
    name: 'vLLM, as a fault within',
    status: 500,
    type: 'internal_error',
    message:
      "This model's maximum context length is 32768 tokens. However, your request has 40000 input tokens. Please reduce the length of the input messages.",
    sizes: [32_768, 40_000],
  },
  {
    ...overflow,
    name: 'SGLang, oMLX',
    message: "The input (10060 tokens) is longer than the model's context length (8192 tokens).",
    sizes: [8192, 10_060],
  },
  {
    ...overflow,
    name: 'LM Studio',
    message:
      'Trying to keep the first 10136 tokens when context the overflows. However, the model is loaded with context length of only 7866 tokens, which is not enough. Try to load the model with a larger context length, or provide a shorter input.',
    sizes: [7866, 10_136],
  },
  {
    ...overflow,
    name: 'LM Studio, later',
    status: 500,
    type: 'api_error',
    message:
      'The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 13055>= n_ctx: 4096). Try to load the model with a larger context length, or provide a shorter input.',
    sizes: [4096, 13_055],
  },
  { ...overflow, name: 'mlx-serve', message: 'Prompt exceeds maximum context length' },
  {
    ...overflow,
    name: 'LiteLLM before Anthropic',
    message:
      'litellm.BadRequestError: AnthropicException - {"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 219898 tokens > 200000 maximum"},"request_id":"req_011CS"}. Received Model Group=claude-sonnet\nAvailable Model Group Fallbacks=None',
    sizes: [200_000, 219_898],
  },
  {
    ...overflow,
    name: 'LiteLLM before another API',
    message:
      "litellm.ContextWindowExceededError: litellm.BadRequestError: ContextWindowExceededError: OpenAIException - This model's maximum context length is 128000 tokens. However, your messages resulted in 150000 tokens. Please reduce the length of the messages.",
    sizes: [128_000, 150_000],
  },
  {
    ...overflow,
    name: 'Claude Code Router before another API',
    type: 'api_error',
    message:
      'Error from provider(local-vllm,qwen/qwen3-coder-30b: 400): {"error":{"message":"This model\'s maximum context length is 65536 tokens. However, you requested 66434 tokens (58242 in the messages, 8192 in the completion). Please reduce the length of the messages or completion.","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}',
    beside: { code: 'provider_response_error' },
    sizes: [65_536, 58_242],
  },
  {
    ...overflow,
    name: 'OpenRouter',
    message: 'Provider returned error',
    beside: {
      metadata: {
        raw: '{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 219898 tokens > 200000 maximum"}}',
        provider_name: 'Anthropic',
      },
    },
    sizes: [200_000, 219_898],
  },
  {
    ...overflow,
    name: 'OpenRouter, with figures of its own',
    message:
      'This endpoint\'s maximum context length is 131072 tokens. However, you requested about 200000 tokens (180000 of text input, 20000 in the output). Please reduce the length of either one, or use the "middle-out" transform to compress your prompt automatically.',
    sizes: [131_072, 180_000],
  },
  { ...overflow, name: 'Z.ai', type: '1261', message: 'Prompt exceeds max length' },
  {
    ...overflow,
    name: 'MiniMax',
    type: 'bad_request_error',
    message: 'invalid params, context window exceeds limit (2013)',
    beside: { http_code: '400' },
  },
  {
    ...overflow,
    name: 'Kimi',
    message: 'Invalid request: Your request exceeded model token limit: 262144 (requested: 270000)',
    sizes: [262_144, 270_000],
  },
]

const refusal = { status: 400, type: 'invalid_request_error' } as const

/** Errors that speak of tokens, limits and prompts, or of messages and their order, and are no overflow. */
const others: readonly Refusal[] = [
  {
    ...refusal,
    name: 'more bytes than are taken',
    status: 413,
    type: 'request_too_large',
    message: 'Request exceeds the maximum size',
    class: 'payload_too_large',
    remedy: 'compact-bytes',
  },
  {
    ...refusal,
    name: 'a long context that is billed apart',
    status: 429,
    type: 'rate_limit_error',
    message: 'Extra usage is required for long context requests.',
    class: 'rate',
  },
  {
    ...refusal,
    name: 'a long context that is billed apart, with another status',
    message: 'Extra usage is required for long context requests.',
    class: 'rate',
  },
  {
    ...refusal,
    name: 'a long context that is not in the plan',
    message: 'The long context beta is not yet available for this subscription.',
    class: 'denied',
  },
  {
    ...refusal,
    name: 'tokens of a minute',
    status: 429,
    type: 'rate_limit_error',
    message: "This request would exceed your organization's rate limit of 40,000 input tokens per minute",
    class: 'rate',
  },
  {
    ...refusal,
    name: 'a server with too much to do',
    status: 529,
    type: 'overloaded_error',
    message: 'Overloaded',
    class: 'other',
  },
  {
    ...refusal,
    name: 'more output than the model gives',
    message:
      'max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-4-5-20250929',
    class: 'output_too_large',
    remedy: 'clamp',
  },
  // Straight at the server the client would have had to lower its limit by hand.
  {
    ...refusal,
    name: 'more output than the window of vLLM has, as a fault within',
    status: 500,
    type: 'internal_error',
    message:
      'max_tokens=32000 cannot be greater than max_model_len=16384. Please request fewer output tokens.',
    class: 'output_too_large',
    remedy: 'clamp',
  },
  {
    ...refusal,
    name: 'less output than thoughts are given',
    message: '`max_tokens` must be greater than `thinking.budget_tokens`.',
    class: 'other',
  },
  {
    ...refusal,
    name: 'more marks than four',
    message: 'A maximum of 4 blocks with cache_control may be provided. Found 5.',
    class: 'other',
  },
  {
    ...refusal,
    name: 'a large image',
    message:
      'messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes',
    beside: { details: { error_code: 'image_dimensions_too_large' } },
    class: 'other',
  },
  {
    ...refusal,
    name: 'a call without its result',
    message:
      'messages.3: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_01. Each `tool_use` block must have a corresponding `tool_result` block in the next message.',
    class: 'order',
  },
  {
    ...refusal,
    name: 'a result without its call',
    message:
      'messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_01. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.',
    class: 'order',
  },
  {
    ...refusal,
    name: 'an end on what the model says',
    message:
      'This model does not support assistant message prefill. The conversation must end with a user message.',
    class: 'order',
  },
  // Another order of messages cures none of these: what does is known by its words alone.
  {
    ...refusal,
    name: 'thoughts behind another prefix',
    message:
      'messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block". Content that preceded this block when it was created is missing from this request, starting at `messages.0.content.0`.',
    class: 'other',
  },
  {
    ...refusal,
    name: 'thoughts that were changed',
    message: 'messages.1.content.0: Invalid `signature` in `thinking` block',
    class: 'other',
  },
  {
    ...refusal,
    name: 'thoughts that are missing',
    message:
      'messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable `thinking`.',
    class: 'other',
  },
  {
    ...refusal,
    name: 'thoughts of the latest message that were changed',
    message:
      'messages.5.content.12: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.',
    class: 'other',
  },
]

export const refusals: readonly Refusal[] = [...overflows, ...others]
