import type { OverflowSignature } from './signature.ts'

/** Hosted services and gateways. The first pattern that matches is taken: wordings with more numbers stand first. */
export const hostedSignatures: readonly OverflowSignature[] = [
  {
    // Also vLLM up to 0.8, DeepSeek, Mistral and llama-cpp-python, which prints "None" where no output limit was set.
    provider: 'OpenAI, with the split of the request',
    pattern:
      /maximum context length is (?<window>\d[\d,._]*) tokens[.,]? however,? you requested (?:about )?(?<total>\d[\d,._]*) tokens \((?<prompt>\d[\d,._]*) in (?:the messages|your prompt)[,;] (?:(?<functions>\d[\d,._]*) in the functions[,;] )?(?:and )?(?:(?<output>\d[\d,._]*)|none) (?:in|for) the completion\)/i,
    sample:
      "This model's maximum context length is 4097 tokens, however you requested 4116 tokens (1044 in your prompt; 3072 for the completion).",
    kind: 'total',
    promptIs: 'exact',
  },
  {
    provider: 'OpenAI, Azure',
    pattern:
      /maximum context length is (?<window>\d[\d,._]*) tokens[.,]? however,? your messages resulted in (?<prompt>\d[\d,._]*) tokens/i,
    sample:
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 9050 tokens (8900 in the messages, 150 in the functions).",
    kind: 'total',
    promptIs: 'exact',
  },
  {
    provider: 'OpenAI, configured limit',
    pattern:
      /exceeds? the configured limit of (?<window>\d[\d,._]*) tokens(?:\. your messages resulted in (?<prompt>\d[\d,._]*) tokens)?/i,
    sample:
      'Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens.',
    kind: 'input',
    promptIs: 'exact',
  },
  {
    provider: 'OpenAI, without numbers',
    pattern: /exceeds the context window of this model/i,
    sample: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
    kind: 'total',
    promptIs: 'exact',
  },
  {
    provider: 'OpenRouter',
    pattern:
      /maximum context length is (?<window>\d[\d,._]*) tokens\. however, you requested about (?<total>\d[\d,._]*) tokens \((?<prompt>\d[\d,._]*) of text input(?:, (?<tools>\d[\d,._]*) of tool input)?(?:, (?<images>\d[\d,._]*) of image input)?(?:, (?<output>\d[\d,._]*) in the output)?\)/i,
    sample:
      "This endpoint's maximum context length is 16384 tokens. However, you requested about 20000 tokens (12000 of text input, 4000 of tool input, 4000 in the output).",
    kind: 'total',
    promptIs: 'exact',
  },
  {
    provider: 'OpenRouter, DeepInfra and Poolside',
    pattern:
      /input length (?<prompt>\d[\d,._]*) exceeds (?:the )?maximum (?:allowed )?input length (?:of )?(?<window>\d[\d,._]*)/i,
    sample: 'Requested input length 39818 exceeds maximum input length 32767 (via DeepInfra)',
    kind: 'input',
    promptIs: 'exact',
  },
  {
    provider: 'Anthropic, Bedrock, Databricks',
    pattern: /prompt is too long: (?<prompt>\d[\d,._]*) tokens > (?<window>\d[\d,._]*) maximum/i,
    sample: 'prompt is too long: 201130 tokens > 200000 maximum',
    kind: 'total',
    promptIs: 'exact',
  },
  {
    provider: 'Anthropic, prompt and output',
    pattern:
      /input length and `?max_tokens`? exceed context limit: (?<prompt>\d[\d,._]*) \+ (?<output>\d[\d,._]*) > (?<window>\d[\d,._]*)/i,
    sample:
      'input length and `max_tokens` exceed context limit: 199759 + 8192 > 200000, decrease input length',
    kind: 'total',
    promptIs: 'exact',
  },
  {
    provider: 'Gemini',
    pattern:
      /input token count (?:\((?<prompt>\d[\d,._]*)\) )?exceeds the maximum number of tokens allowed \(?(?<window>\d[\d,._]*)/i,
    sample: 'The input token count (1066750) exceeds the maximum number of tokens allowed (1048575).',
    kind: 'input',
    promptIs: 'exact',
  },
  {
    provider: 'SiliconFlow',
    pattern:
      /number of input tokens \((?<prompt>\d[\d,._]*)\) has exceeded max_prompt_tokens \((?<window>\d[\d,._]*)\)/i,
    sample: 'number of input tokens (204703) has exceeded max_prompt_tokens (202752) limit.',
    kind: 'input',
    promptIs: 'exact',
  },
  {
    provider: 'SiliconFlow, sequence length',
    pattern:
      /length of prompt_tokens \((?<prompt>\d[\d,._]*)\) must be less than max_seq_len \((?<window>\d[\d,._]*)\)/i,
    sample: 'length of prompt_tokens (34345) must be less than max_seq_len (32768).',
    kind: 'total',
    promptIs: 'exact',
  },
  {
    provider: 'Ollama cloud',
    pattern: /prompt too long; exceeded max context length by (?<excess>\d[\d,._]*) tokens/i,
    sample: 'prompt too long; exceeded max context length by 65590 tokens (ref: 00000000)',
    kind: 'total',
    promptIs: 'exact',
  },
  {
    provider: 'Fireworks, Ollama cloud',
    pattern: /prompt is too long: (?<prompt>\d[\d,._]*) model maximum context length: (?<window>\d[\d,._]*)/i,
    sample: 'The prompt is too long: 1270974, model maximum context length: 1048576',
    kind: 'total',
    promptIs: 'exact',
  },
  {
    provider: 'Cerebras',
    pattern: /current length is (?<prompt>\d[\d,._]*) while limit is (?<window>\d[\d,._]*)/i,
    sample:
      'Please reduce the length of the messages or completion. Current length is 8677 while limit is 8192',
    kind: 'total',
    promptIs: 'exact',
  },
  {
    provider: 'Groq',
    pattern: /reduce the length of the messages or completion/i,
    sample: 'Please reduce the length of the messages or completion.',
    kind: 'total',
    promptIs: 'exact',
  },
  {
    provider: 'Mistral',
    pattern:
      /prompt contains (?<prompt>\d[\d,._]*) tokens.{0,40} too large for model with (?<window>\d[\d,._]*) maximum context length/i,
    sample:
      'Prompt contains 40046 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
    kind: 'total',
    promptIs: 'exact',
  },
  {
    provider: 'xAI',
    pattern:
      /maximum prompt length is (?<window>\d[\d,._]*) but the request contains (?<prompt>\d[\d,._]*) tokens/i,
    sample: "This model's maximum prompt length is 131072 but the request contains 149617 tokens.",
    kind: 'input',
    promptIs: 'exact',
  },
  {
    provider: 'Cohere',
    pattern:
      /size limit exceeded by (?<excess>\d[\d,._]*) tokens.{1,80}limit for this model is (?<window>\d[\d,._]*) tokens/i,
    sample:
      'too many tokens: size limit exceeded by 19296 tokens. Try using shorter or fewer inputs. The limit for this model is 132000 tokens.',
    kind: 'total',
    promptIs: 'exact',
  },
  {
    provider: 'Moonshot',
    pattern: /exceeded model token limit: (?<window>\d[\d,._]*)(?: \(requested: (?<prompt>\d[\d,._]*)\))?/i,
    sample: 'Invalid request: Your request exceeded model token limit: 262144 (requested: 262879)',
    kind: 'total',
    promptIs: 'exact',
  },
  {
    provider: 'Z.ai',
    pattern: /prompt exceeds max length/i,
    sample: 'Prompt exceeds max length',
    kind: 'total',
    promptIs: 'exact',
  },
  {
    // The number in brackets is MiniMax's error code, not a count; it stands on oversized media, too.
    provider: 'MiniMax',
    pattern: /context window exceeds limit/i,
    sample: 'invalid params, context window exceeds limit (2013)',
    kind: 'total',
    promptIs: 'exact',
  },
  {
    provider: 'Bedrock',
    pattern: /input is too long for requested model/i,
    sample: 'Input is too long for requested model.',
    kind: 'total',
    promptIs: 'exact',
  },
  {
    provider: 'Bedrock Nova',
    pattern: /number of input tokens exceeds maximum length of (?<window>\d[\d,._]*)/i,
    sample: 'The number of input tokens exceeds maximum length of 300000',
    kind: 'input',
    promptIs: 'exact',
  },
  {
    provider: 'GitHub Copilot',
    pattern: /prompt token count of (?<prompt>\d[\d,._]*) exceeds the limit of (?<window>\d[\d,._]*)/i,
    sample: 'prompt token count of 391491 exceeds the limit of 128000',
    kind: 'input',
    promptIs: 'exact',
  },
  {
    provider: 'GitHub Models',
    pattern: /request body too large for .{1,80} model\. max size: (?<window>\d[\d,._]*) tokens/i,
    sample: 'Request body too large for gpt-4o model. Max size: 8000 tokens.',
    kind: 'input',
    promptIs: 'exact',
  },
  {
    provider: 'Cloudflare Workers AI',
    pattern:
      /input and maximum output tokens \((?<total>\d[\d,._]*)\) exceeded this model context window limit \((?<window>\d[\d,._]*)\)/i,
    sample:
      'AiError: The estimated number of input and maximum output tokens (35000) exceeded this model context window limit (24000)',
    kind: 'total',
    promptIs: 'exact',
  },
  {
    provider: 'DashScope',
    pattern: /range of input length should be \[\d+, ?(?<window>\d[\d,._]*)\]/i,
    sample: 'InternalError.Algo.InvalidParameter: Range of input length should be [1, 983616]',
    kind: 'input',
    promptIs: 'exact',
  },
  {
    provider: 'gateways in Chinese, with the window',
    pattern: /超[过出][^。]{0,12}上下文[^。\d]{0,12}(?<window>\d[\d,._]*)/,
    sample: '输入超过模型最大上下文长度 32768',
    kind: 'total',
    promptIs: 'exact',
  },
  {
    provider: 'gateways in Chinese',
    pattern: /超[过出][^。]{0,12}上下文|上下文[^。]{0,12}超[过出长限]|(?:prompt|输入)[^。]{0,8}超长/i,
    sample: '输入内容超过模型最大上下文长度',
    kind: 'total',
    promptIs: 'exact',
  },
]
