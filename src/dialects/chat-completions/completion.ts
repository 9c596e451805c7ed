/** The token counts of an answer, in the server's tokens. */
export type Usage = {
  /** Includes what was read from the provider's prompt cache. */
  readonly promptTokens: number
  readonly completionTokens: number | null
  readonly cachedTokens: number | null
}

/** What matters of a chat completion or of one chunk of a streamed one. */
export type CompletionFacts = {
  /** Content, reasoning, a refusal, audio or a call: something that a client may already show. */
  readonly hasOutput: boolean
  readonly finishReason: string | null
  readonly usage: Usage | null
  readonly model: string | null
  /** The server says that it is Ollama, which cuts prompts to its window without a word. */
  readonly isOllama: boolean
  /** The body states an error instead of, or beside, an answer. */
  readonly isError: boolean
}

type Fields = Readonly<Record<string, unknown>>

/** Reads a parsed body or chunk; null if it is no JSON object or list. Assistants' texts are never looked into. */
export function readCompletion(body: unknown): CompletionFacts | null {
  if (Array.isArray(body)) {
    const isError = body.some((item) => isFields(item) && statesError(item))
    return { hasOutput: false, finishReason: null, usage: null, model: null, isOllama: false, isError }
  }
  if (!isFields(body)) return null
  const choices = (Array.isArray(body['choices']) ? body['choices'] : []).filter(isFields)
  return {
    hasOutput: choices.some(choiceHasOutput),
    finishReason: choices.map((choice) => choice['finish_reason']).find(isText) ?? null,
    usage: readUsage(body),
    model: isText(body['model']) ? body['model'] : null,
    isOllama: body['system_fingerprint'] === 'fp_ollama',
    isError: statesError(body) || choices.some((choice) => isPresent(choice['error'])),
  }
}

/** From `usage`, or from `x_groq.usage` where Groq puts it in a stream; without either from llama.cpp's timings. */
export function readUsage(body: Fields): Usage | null {
  const groq = body['x_groq']
  const usage = isFields(body['usage']) ? body['usage'] : isFields(groq) ? groq['usage'] : null
  return (isFields(usage) ? statedUsage(usage) : null) ?? timedUsage(body['timings'])
}

// --- internal ---

function choiceHasOutput(choice: Fields): boolean {
  return isText(choice['text']) || [choice['delta'], choice['message']].some(messageHasOutput)
}

const outputFields = [
  'content',
  'reasoning',
  'reasoning_content',
  'reasoning_details',
  'refusal',
  'tool_calls',
  'function_call',
  'audio',
]

function messageHasOutput(message: unknown): boolean {
  return isFields(message) && outputFields.some((field) => isPresent(message[field]))
}

function statesError(body: Fields): boolean {
  if (isPresent(body['error']) || isText(body['error_message']) || isText(body['error_type'])) return true
  if (body['object'] === 'error' || body['type'] === 'error') return true
  if (body['success'] === false && isPresent(body['errors'])) return true
  // MiniMax answers 200 with an empty answer and says here what went wrong.
  const baseResponse = body['base_resp']
  if (isFields(baseResponse) && baseResponse['status_code'] !== undefined) {
    return baseResponse['status_code'] !== 0
  }
  return !Array.isArray(body['choices']) && (isText(body['message']) || isPresent(body['detail']))
}

/**
 * Cached tokens are counted among the prompt's wherever they stand under OpenAI's names, or DeepSeek's and Moonshot's. Under
 * Anthropic's names alone they are beside it: gateways that write those for OpenAI's clients (LiteLLM) give OpenAI's as well.
 */
function statedUsage(usage: Fields): Usage | null {
  const statedTokens = count(usage['prompt_tokens'])
  if (statedTokens === null) return null
  const details = isFields(usage['prompt_tokens_details']) ? usage['prompt_tokens_details'] : {}
  const countedTokens = firstCount(
    details['cached_tokens'],
    usage['prompt_cache_hit_tokens'],
    usage['cached_tokens'],
  )
  const readTokens = count(usage['cache_read_input_tokens'])
  const besideTokens = (readTokens ?? 0) + (count(usage['cache_creation_input_tokens']) ?? 0)
  const completionTokens = count(usage['completion_tokens'])
  // More cached than counted, or a sum that holds the cached ones beside prompt and reply: then they do stand beside. A
  // larger sum may hold thoughts.
  const sumTokens = statedTokens + (countedTokens ?? 0) + (completionTokens ?? 0)
  const isOutside =
    countedTokens !== null &&
    countedTokens > 0 &&
    (countedTokens > statedTokens || count(usage['total_tokens']) === sumTokens)
  return {
    promptTokens: statedTokens + (isOutside ? countedTokens : countedTokens === null ? besideTokens : 0),
    completionTokens,
    cachedTokens: countedTokens ?? readTokens,
  }
}

/**
 * llama.cpp's server ends every stream with its timings, asked or not. Those of before September 2025 leave out what
 * came from the cache, and say nothing of a prompt.
 */
function timedUsage(timings: unknown): Usage | null {
  if (!isFields(timings)) return null
  const [readTokens, cachedTokens] = [count(timings['prompt_n']), count(timings['cache_n'])]
  if (readTokens === null || cachedTokens === null) return null
  return {
    promptTokens: cachedTokens + readTokens,
    completionTokens: count(timings['predicted_n']),
    cachedTokens,
  }
}

function firstCount(...values: readonly unknown[]): number | null {
  for (const value of values) {
    const counted = count(value)
    if (counted !== null) return counted
  }
  return null
}

function count(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null
}

function isPresent(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0
  if (isFields(value)) return Object.keys(value).length > 0
  return value !== null && value !== undefined && value !== '' && value !== false
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
