/** An error as servers of the Responses API state it, and whether it is an overflow. */
export type Refusal = {
  readonly name: string
  readonly error: Readonly<Record<string, unknown>>
  /** What stands beside the error. */
  readonly beside?: Readonly<Record<string, unknown>>
  /** The window that it states. */
  readonly windowTokens?: number
}

const tooLong = 'Your input exceeds the context window of this model. Please adjust your input and try again.'

/** Errors that a shorter input cures. */
export const overflows: readonly Refusal[] = [
  {
    name: 'OpenAI',
    error: {
      message: tooLong,
      type: 'invalid_request_error',
      param: 'input',
      code: 'context_length_exceeded',
    },
  },
  {
    name: 'OpenAI, by its words',
    error: { message: tooLong, type: 'invalid_request_error', param: 'input' },
  },
  { name: 'OpenAI, by its code', error: { code: 'context_length_exceeded', message: null } },
  {
    name: 'Azure',
    error: {
      code: 'context_length_exceeded',
      message: tooLong,
      type: 'invalid_request_error',
      param: 'input',
      content_filters: null,
    },
  },
  { name: 'a relay', error: { code: 'context_too_large', message: 'The context is too large.' } },
  { name: 'a gateway', error: { code: 'context_window_exceeded', message: 'Bad request' } },
  { name: 'a gateway of prompts', error: { code: 'prompt_too_long', message: 'Bad request' } },
  {
    name: 'Copilot',
    error: {
      message: 'prompt token count of 138426 exceeds the limit of 128000',
      code: 'model_max_prompt_tokens_exceeded',
    },
    windowTokens: 128_000,
  },
  // Its errors are a reduced set; the truth stands beside.
  {
    name: 'OpenRouter',
    error: { code: 'invalid_prompt', message: 'Provider returned error' },
    beside: { error_type: 'context_length_exceeded' },
  },
  {
    name: 'OpenRouter, with figures',
    error: {
      code: 'invalid_prompt',
      message:
        "This endpoint's maximum context length is 16384 tokens. However, you requested about 20000 tokens (12000 of text input, 4000 of tool input, 4000 in the output).",
    },
    windowTokens: 16_384,
  },
  {
    name: 'vLLM',
    error: {
      message:
        "This model's maximum context length is 16384 tokens. However, you requested 8000 output tokens and your prompt contains 9000 input tokens, for a total of 17000 tokens (9000 + 8000 = 17000 > 16384).",
      type: 'BadRequestError',
      param: 'input_tokens',
      code: 400,
    },
    windowTokens: 16_384,
  },
  {
    name: 'vLLM, before its engine',
    error: {
      message: 'The engine prompt length 20000 exceeds the max_model_len 16384. Please reduce prompt.',
      type: 'invalid_request_error',
      param: 'input',
      code: 400,
    },
    windowTokens: 16_384,
  },
  {
    name: 'SGLang',
    error: {
      message: "The input (50000 tokens) is longer than the model's context length (40960 tokens).",
      type: 'invalid_request_error',
      param: null,
      code: 400,
    },
    windowTokens: 40_960,
  },
  {
    name: 'llama.cpp',
    error: {
      code: 400,
      message: 'request (13000 tokens) exceeds the available context size (8192 tokens), try increasing it',
      type: 'exceed_context_size_error',
      n_prompt_tokens: 13_000,
      n_ctx: 8192,
    },
    windowTokens: 8192,
  },
  {
    name: 'xAI',
    error: {
      code: 'invalid-argument',
      message: "This model's maximum prompt length is 131072 but the request contains 149617 tokens.",
    },
    windowTokens: 131_072,
  },
]

/** Errors that a shorter input does not cure, whatever they speak of. */
export const lookAlikes: readonly Refusal[] = [
  {
    name: 'a rate limit',
    error: {
      code: 'rate_limit_exceeded',
      message:
        'Rate limit reached for gpt-5.1 in organization org-AAA on tokens per min (TPM): Limit 30000, Used 22999, Requested 12528. Please try again in 11.054s.',
    },
  },
  {
    name: 'a request beyond the rate limit',
    error: {
      code: 'rate_limit_exceeded',
      type: 'tokens',
      message:
        'Request too large for gpt-5.1 in organization org-AAA on tokens per min (TPM): Limit 30000, Requested 40961. The input or output tokens must be reduced in order to run successfully.',
    },
  },
  {
    name: 'a quota',
    error: {
      code: 'insufficient_quota',
      type: 'insufficient_quota',
      message: 'You exceeded your current quota, please check your plan and billing details.',
    },
  },
  {
    name: 'a usage limit of Codex',
    error: {
      type: 'usage_limit_reached',
      message: 'The usage limit has been reached',
      plan_type: 'plus',
      resets_in_seconds: 3600,
    },
  },
  {
    name: 'encrypted content of before',
    error: {
      code: 'invalid_encrypted_content',
      type: 'invalid_request_error',
      message:
        'The encrypted content gAAA… could not be verified. Reason: Encrypted content could not be decrypted or parsed.',
    },
  },
  {
    name: 'encrypted content of another caller',
    error: {
      type: 'invalid_request_error',
      message: 'reasoning encrypted_content was not issued to this caller',
    },
  },
  ...[
    'No tool output found for function call call_X.',
    'No tool call found for function call output with call_id call_X.',
    'No tool call found for custom tool call output with call_id call_X.',
    "Item 'rs_X' of type 'reasoning' was provided without its required following item.",
    "Item 'msg_X' of type 'message' was provided without its required 'reasoning' item: 'rs_X'.",
    "Item with id 'rs_X' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.",
    'invalid params, tool call result does not follow tool call (2013)',
  ].map((message) => ({
    name: message,
    error: { message, type: 'invalid_request_error', param: 'input', code: null },
  })),
  {
    name: 'a response that is not there',
    error: {
      message: "Previous response with id 'resp_X' not found.",
      type: 'invalid_request_error',
      param: 'previous_response_id',
      code: 'previous_response_not_found',
    },
  },
  {
    name: 'a prompt that was flagged',
    error: {
      code: 'invalid_prompt',
      message: 'Invalid prompt: your prompt was flagged as potentially violating our usage policy.',
    },
  },
  {
    name: 'one text that is too long',
    error: {
      code: 'string_above_max_length',
      param: 'input[3].content[0].text',
      message:
        "Invalid 'input[3].content[0].text': string too long. Expected a string with maximum length 10485760, but got a string with length 11000000 instead.",
    },
  },
  {
    name: 'too many items',
    error: {
      code: 'array_above_max_length',
      param: 'tools',
      message: "Invalid 'tools': array too long. Expected an array with maximum length 128.",
    },
  },
  {
    name: 'trouble',
    error: { code: 'server_error', message: 'An error occurred while processing your request.' },
  },
  {
    name: 'an overload',
    error: {
      code: 'server_is_overloaded',
      message: 'Our servers are currently overloaded. Please try again later.',
    },
  },
]
