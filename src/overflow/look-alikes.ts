import type { AnswerClass, Remedy } from './classification.ts'

/** A wording that speaks of tokens, limits or sizes, or refuses the order of messages, and is no overflow. */
export type LookAlike = {
  readonly provider: string
  readonly class: AnswerClass
  /** What helps, where the class does not say so by itself. */
  readonly remedy?: Remedy
  readonly pattern: RegExp
  readonly sample: string
}

/** Looked at before any overflow wording: what matches here is never an overflow. */
export const vetoes: readonly LookAlike[] = [
  {
    // Groq sends this with status 413, and its text says "too large".
    provider: 'OpenAI, Groq, Anthropic: tokens per minute',
    class: 'rate',
    pattern: /tokens per (?:min|hour|day)|requests per (?:min|hour|day)|\((?:tpm|tpd|rpm|rpd)\)/i,
    sample:
      'Request too large for m in organization o on tokens per min (TPM): Limit 30000, Requested 38324.',
  },
  {
    provider: 'anyone: rate limit',
    class: 'rate',
    pattern:
      /rate.?limit (?:reached|exceeded|of|for)|exceed\w* (?:the|your) rate.?limit|rate_?limit_?(?:exceeded|error)|too many requests/i,
    sample: 'This request would exceed the rate limit for your organization of 40,000 input tokens',
  },
  {
    provider: 'OpenAI, Gemini: quota',
    class: 'rate',
    pattern: /\bquota\b|insufficient_quota|free_tier_\w{0,40}token_count/i,
    sample: 'Quota exceeded for metric: free_tier_input_token_count, limit: 250000',
  },
  {
    provider: 'Bedrock: throttling',
    class: 'rate',
    pattern: /throttl(?:ed|ing)|please wait before trying again/i,
    sample: 'Too many tokens, please wait before trying again.',
  },
  {
    provider: 'Anthropic: long context is billed apart',
    class: 'rate',
    pattern: /extra usage is required/i,
    sample: 'Extra usage is required for long context requests',
  },
  {
    provider: 'OpenRouter: credits',
    class: 'rate',
    pattern:
      /can only afford|requires more credits|prompt tokens limit exceeded|insufficient (?:balance|credits)/i,
    sample: 'Prompt tokens limit exceeded: 45000 > 11424. To increase, visit the settings',
  },
  {
    provider: 'gateways in Chinese: rate and balance',
    class: 'rate',
    pattern: /速率|频率|每分钟|配额|余额|限流/,
    sample: '每分钟 token 数超过限制',
  },
  {
    provider: 'OpenAI, Azure, DashScope: content policy',
    class: 'denied',
    pattern:
      /content management policy|content_?policy_?violation|responsibleaipolicyviolation|inappropriate content/i,
    sample: "The response was filtered due to the prompt triggering the service's content management policy.",
  },
  {
    provider: 'OpenAI: output cap',
    class: 'output_too_large',
    pattern: /supports at most \d[\d,._]* (?:completion|output) tokens/i,
    sample: 'max_tokens is too large: 128000. This model supports at most 16384 completion tokens',
  },
  {
    provider: 'Anthropic: output cap',
    class: 'output_too_large',
    pattern: /max_tokens: \d[\d,._]* > \d[\d,._]* which is the maximum allowed number of output tokens/i,
    sample: 'max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for m',
  },
  {
    // The look-behind spares TGI's "`inputs` tokens + `max_new_tokens` must be <= N", which is an overflow.
    provider: 'Cohere, Groq, Databricks: output cap',
    class: 'output_too_large',
    pattern:
      /(?<!\+ .?)max[ _](?:completion_|output_|new_)?tokens.{0,24} (?:must be (?:less than|at most|no more than|between|<)|cannot exceed|should be (?:less than|at most))/i,
    sample: 'max tokens must be less than or equal to 4096, the maximum output for this model',
  },
  {
    // Twin of "Range of input length should be [1, N]", which is an overflow.
    provider: 'DashScope, DeepSeek: output range',
    class: 'output_too_large',
    pattern: /range of max_(?:completion_)?tokens (?:should be|is) \[/i,
    sample: 'Invalid max_tokens value, the valid range of max_tokens is [1, 8192]',
  },
  {
    provider: 'Gemini: output cap',
    class: 'output_too_large',
    pattern: /maxoutputtokens value of \d+ but the supported range/i,
    sample: 'it has a maxOutputTokens value of 100000 but the supported range is from 1 to 8193',
  },
]

/** Looked at after the overflow wordings. */
export const refusals: readonly LookAlike[] = [
  {
    provider: 'OpenAI: too many messages',
    class: 'payload_too_large',
    remedy: 'compact-count',
    pattern: /'messages': array too long/i,
    sample: "Invalid 'messages': array too long. Expected an array with maximum length 2048",
  },
  {
    provider: 'Anthropic, nginx, Ollama cloud: bytes',
    class: 'payload_too_large',
    remedy: 'compact-bytes',
    pattern: /request entity too large|payload too large|request_too_large|maximum allowed number of bytes/i,
    sample: 'Request exceeds the maximum allowed number of bytes.',
  },
  {
    provider: 'Gemini: bytes',
    class: 'payload_too_large',
    remedy: 'compact-bytes',
    pattern: /payload size exceeds the limit/i,
    sample: 'Request payload size exceeds the limit: 20971520 bytes.',
  },
  {
    provider: 'Moonshot: bytes',
    class: 'payload_too_large',
    remedy: 'compact-bytes',
    pattern: /total message size \d+ exceeds limit/i,
    sample: 'total message size 2600000 exceeds limit 2097152',
  },
  {
    provider: 'OpenAI: result without its call',
    class: 'order',
    pattern: /role '?tool'? must be a response to/i,
    sample: "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
  },
  {
    provider: 'OpenAI, DeepSeek: call without its result',
    class: 'order',
    pattern: /must be followed by tool messages|did not have response messages|insufficient tool messages/i,
    sample: "An assistant message with 'tool_calls' must be followed by tool messages responding to each id.",
  },
  {
    provider: 'Mistral: order',
    class: 'order',
    pattern:
      /unexpected role '?\w{1,20}'? after role|expected last role|same number of function calls and responses|invalid_request_message_order/i,
    sample: "Unexpected role 'user' after role 'tool'",
  },
  {
    provider: 'Mistral and Gemma templates: alternation',
    class: 'order',
    pattern: /roles must alternate|only user and assistant roles are supported/i,
    sample: 'Conversation roles must alternate user/assistant/user/assistant/...',
  },
  {
    provider: 'Qwen, MiniMax and older Gemma templates: system messages',
    class: 'order',
    pattern:
      /system messages? must (?:be at the beginning|be the first|come first)|system role not supported/i,
    sample: 'System message must be at the beginning.',
  },
  {
    provider: 'Anthropic: order',
    class: 'order',
    pattern:
      /ids were found without `?tool_(?:result|use)`? blocks|not support assistant message prefill|must end with a user message/i,
    sample: 'messages.3: `tool_use` ids were found without `tool_result` blocks immediately after',
  },
  {
    provider: 'Gemini: order',
    class: 'order',
    pattern: /number of function response parts is equal|function call turn comes immediately after/i,
    sample:
      'Please ensure that the number of function response parts is equal to the number of function call parts',
  },
  {
    provider: 'LM Studio: template',
    class: 'order',
    pattern: /error rendering prompt with jinja template/i,
    sample: 'Error rendering prompt with jinja template',
  },
]
