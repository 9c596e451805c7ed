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
  /** The body states an error instead of, or beside, an answer. */
  readonly isError: boolean
}

type Fields = Readonly<Record<string, unknown>>

/** Reads a parsed body or chunk; null if it is no JSON object or list. Assistants' texts are never looked into. */
export function readCompletion(body: unknown): CompletionFacts | null {
  if (Array.isArray(body)) {
    const isError = body.some((item) => isFields(item) && statesError(item))
    return { hasOutput: false, finishReason: null, usage: null, model: null, isError }
  }
  if (!isFields(body)) return null
  const choices = (Array.isArray(body['choices']) ? body['choices'] : []).filter(isFields)
  return {
    hasOutput: choices.some(choiceHasOutput),
    finishReason: choices.map((choice) => choice['finish_reason']).find(isText) ?? null,
    usage: readUsage(body),
    model: isText(body['model']) ? body['model'] : null,
    isError: statesError(body) || choices.some((choice) => isPresent(choice['error'])),
  }
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

/** From `usage`, or from `x_groq.usage` where Groq puts it in a stream. */
function readUsage(body: Fields): Usage | null {
  const groq = body['x_groq']
  const usage = isFields(body['usage']) ? body['usage'] : isFields(groq) ? groq['usage'] : null
  if (!isFields(usage)) return null
  const promptTokens = count(usage['prompt_tokens'])
  if (promptTokens === null) return null
  const details = usage['prompt_tokens_details']
  const cachedTokens =
    count(isFields(details) ? details['cached_tokens'] : null) ??
    count(usage['prompt_cache_hit_tokens']) ??
    count(usage['cached_tokens']) ??
    count(usage['cache_read_input_tokens'])
  return {
    promptTokens: promptTokens + uncountedCache(promptTokens, cachedTokens, usage),
    completionTokens: count(usage['completion_tokens']),
    cachedTokens,
  }
}

/**
 * Gateways in front of Anthropic pass its numbers on as they are, and there the prompt leaves out what was read from
 * and written to the cache. More cached than counted gives them away.
 */
function uncountedCache(promptTokens: number, cachedTokens: number | null, usage: Fields): number {
  const written = count(usage['cache_creation_input_tokens']) ?? 0
  const cached = (cachedTokens ?? 0) + written
  return cached > promptTokens ? cached : 0
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
