/** How a server words an overflow, and what that states: window, prompt, output, total; `>` before a lower bound, `input` behind a window of the prompt alone. */
export type Wording = { readonly provider: string; readonly text: string; readonly states: string }

/** Wordings that the general form reads, so that no signature is needed. */
export const wordings: readonly Wording[] = [
  {
    provider: 'vLLM 0.18 and later, prompt cut off',
    text: "This model's maximum context length is 32768 tokens. However, you requested 4096 output tokens and your prompt contains at least 28673 input tokens, for a total of at least 32769 tokens.",
    states: '32768 >28673 4096 -',
  },
  {
    provider: 'vLLM 0.18 and later',
    text: "This model's maximum context length is 16384 tokens. However, you requested 8000 output tokens and your prompt contains 9000 input tokens, for a total of 17000 tokens (9000 + 8000 = 17000 > 16384).",
    states: '16384 9000 8000 17000',
  },
  {
    provider: 'vLLM 0.18 and later, too many characters to count',
    text: "This model's maximum context length is 8192 tokens. However, you requested 16 output tokens and your prompt contains 1046529 characters (more than 1046528 characters, which is the upper bound for 8176 input tokens).",
    states: '8192 - 16 -',
  },
  {
    provider: 'vLLM 0.15 to 0.17, too many characters to count',
    text: "You passed 900000 input characters and requested 512 output tokens. However, the model's context length is only 8192 tokens, resulting in a maximum input length of 7680 tokens (at most 491520 characters).",
    states: '8192 - 512 -',
  },
  {
    provider: 'vLLM 0.9 to 0.15',
    text: "This model's maximum context length is 8192 tokens. However, your request has 9001 input tokens. Please reduce the length of the input messages.",
    states: '8192 9001 - -',
  },
  {
    // Its first words were taken for an error about the engine.
    provider: 'vLLM, Responses API',
    text: 'The engine prompt length 20000 exceeds the max_model_len 16384. Please reduce prompt.',
    states: '16384 20000 - -',
  },
  {
    provider: 'vLLM, multimodal',
    text: 'The decoder prompt (length 12324) is longer than the maximum model length of 8192.',
    states: '8192 12324 - -',
  },
  {
    provider: 'SGLang, Together',
    text: "The input (50000 tokens) is longer than the model's context length (40960 tokens).",
    states: '40960 50000 - -',
  },
  {
    provider: 'SGLang, prompt and output',
    text: "Requested token count exceeds the model's maximum context length of 32768 tokens. You requested a total of 34000 tokens: 30000 tokens from the input messages and 4000 tokens for the completion.",
    states: '32768 30000 4000 34000',
  },
  {
    provider: 'llama.cpp, LocalAI',
    text: 'request (13000 tokens) exceeds the available context size (8192 tokens), try increasing it',
    states: '8192 13000 - -',
  },
  {
    provider: 'llama.cpp before October 2025',
    text: 'the request exceeds the available context size. try increasing the context size or enable context shift',
    states: '- - - -',
  },
  {
    provider: 'llama.cpp, full while generating',
    text: 'Context size has been exceeded.',
    states: '- - - -',
  },
  {
    provider: 'ds4',
    text: 'Prompt has 70000 tokens, but the configured context size is 65536 tokens',
    states: '65536 70000 - -',
  },
  {
    provider: 'a local server with status 404',
    text: 'Context limit is 49152 tokens; prompt=51402 leaves 0 output tokens, below the minimum 16',
    states: '49152 51402 0 -',
  },
  {
    provider: 'LM Studio',
    text: 'Trying to keep the first 6269 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.',
    states: '4096 6269 - -',
  },
  {
    provider: 'LM Studio 0.4',
    text: 'Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)',
    states: '7424 15028 - -',
  },
  {
    provider: 'LM Studio, tokens to keep',
    text: 'The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 13055>= n_ctx: 4096).',
    states: '4096 13055 - -',
  },
  {
    provider: 'Ollama without context shift',
    text: 'the prompt is longer than the context length currently available to the model; shorten the prompt',
    states: '- - - -',
  },
  {
    provider: 'llama-cpp-python, as a library',
    text: 'Requested tokens (700) exceed context window of 512',
    states: '512 700 - -',
  },
  {
    provider: 'mlx-serve',
    text: 'Prompt exceeds maximum context length',
    states: '- - - -',
  },
  {
    provider: 'OpenAI, with the split of the request',
    text: "This model's maximum context length is 4097 tokens, however you requested 4116 tokens (1044 in your prompt; 3072 for the completion).",
    states: '4097 1044 3072 4116',
  },
  {
    provider: 'OpenAI, Azure',
    text: "This model's maximum context length is 8192 tokens. However, your messages resulted in 9050 tokens (8900 in the messages, 150 in the functions).",
    states: '8192 9050 - -',
  },
  {
    provider: 'OpenAI, without numbers',
    text: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
    states: '- - - -',
  },
  {
    provider: 'OpenRouter',
    text: "This endpoint's maximum context length is 16384 tokens. However, you requested about 20000 tokens (12000 of text input, 4000 of tool input, 4000 in the output).",
    states: '16384 16000 4000 20000',
  },
  {
    provider: 'OpenRouter, DeepInfra and Poolside',
    text: 'Requested input length 39818 exceeds maximum input length 32767 (via DeepInfra)',
    states: '32767 39818 - - input',
  },
  {
    provider: 'Anthropic, Bedrock, Databricks',
    text: 'prompt is too long: 201130 tokens > 200000 maximum',
    states: '200000 201130 - -',
  },
  {
    provider: 'SiliconFlow',
    text: 'number of input tokens (204703) has exceeded max_prompt_tokens (202752) limit.',
    states: '202752 204703 - - input',
  },
  {
    provider: 'SiliconFlow, sequence length',
    text: 'length of prompt_tokens (34345) must be less than max_seq_len (32768).',
    states: '32768 34345 - -',
  },
  {
    provider: 'Ollama cloud',
    text: 'prompt too long; exceeded max context length by 65590 tokens (ref: 00000000)',
    states: '- - - -',
  },
  {
    provider: 'Fireworks, Ollama cloud',
    text: 'The prompt is too long: 1270974, model maximum context length: 1048576',
    states: '1048576 1270974 - -',
  },
  {
    provider: 'Cerebras',
    text: 'Please reduce the length of the messages or completion. Current length is 8677 while limit is 8192',
    states: '8192 8677 - -',
  },
  {
    provider: 'Mistral',
    text: 'Prompt contains 40046 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
    states: '32768 40046 - -',
  },
  {
    provider: 'xAI',
    text: "This model's maximum prompt length is 131072 but the request contains 149617 tokens.",
    states: '131072 149617 - - input',
  },
  {
    provider: 'Cohere',
    text: 'too many tokens: size limit exceeded by 19296 tokens. Try using shorter or fewer inputs. The limit for this model is 132000 tokens.',
    states: '132000 151296 - -',
  },
  {
    provider: 'Moonshot',
    text: 'Invalid request: Your request exceeded model token limit: 262144 (requested: 262879)',
    states: '262144 262879 - -',
  },
  {
    provider: 'Z.ai',
    text: 'Prompt exceeds max length',
    states: '- - - -',
  },
  {
    provider: 'MiniMax',
    text: 'invalid params, context window exceeds limit (2013)',
    states: '- - - -',
  },
  {
    provider: 'Bedrock',
    text: 'Input is too long for requested model.',
    states: '- - - -',
  },
  {
    provider: 'gateways in Chinese, with the window',
    text: '输入超过模型最大上下文长度 32768',
    states: '32768 - - -',
  },
  {
    provider: 'gateways in Chinese',
    text: '输入内容超过模型最大上下文长度',
    states: '- - - -',
  },
  {
    provider: 'anyone, window stated',
    text: "Request rejected: this model's maximum context length is 8192 tokens.",
    states: '8192 - - -',
  },
  {
    provider: 'anyone, nothing stated',
    text: 'The conversation exceeds the model’s context window',
    states: '- - - -',
  },
  {
    provider: 'Groq',
    text: 'Please reduce the length of the messages or completion.',
    states: '- - - -',
  },
]
