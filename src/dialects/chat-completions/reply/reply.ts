import { isJsonObject, stringOr, type JsonObject } from '../../../conversation/json-value.ts'

/** What a model answered to one request, plain or streamed. */
export type Reply = {
  /** Its text; null where the content is something else than text. */
  readonly text: string | null
  /** Fields that some servers want back with the message: thoughts, signatures. */
  readonly kept: JsonObject
  /** The calls in their order, as they came. */
  readonly calls: readonly ReplyCall[]
  readonly finishReason: string | null
  readonly hasRefusal: boolean
  /** As it was stated; null where it was not. */
  readonly usage: JsonObject | null
}

export type ReplyCall = {
  readonly id: string
  readonly name: string
  readonly argumentsText: string
  /** The call as it came, or as its deltas add up. */
  readonly json: JsonObject
}

/** The reply in a plain answer; null where it has not exactly one choice with a message. */
export function readReply(body: unknown): Reply | null {
  if (!isJsonObject(body) || !Array.isArray(body['choices']) || body['choices'].length !== 1) return null
  const [choice]: unknown[] = body['choices']
  if (!isJsonObject(choice) || !isJsonObject(choice['message'])) return null
  return replyOf(choice['message'], choice['finish_reason'], body['usage'])
}

/** The same of a message's parts. */
export function replyOf(message: JsonObject, finishReason: unknown, usage: unknown): Reply {
  const { content, tool_calls: calls } = message
  return {
    text: typeof content === 'string' ? content : isEmpty(content) ? '' : null,
    kept: Object.fromEntries(
      Object.entries(message).filter(([key, value]) => wantedBack.has(key) && !isEmpty(value)),
    ),
    calls: Array.isArray(calls) ? calls.filter(isJsonObject).map(callOf) : [],
    finishReason: typeof finishReason === 'string' ? finishReason : null,
    hasRefusal: !isEmpty(message['refusal']),
    usage: isJsonObject(usage) ? usage : null,
  }
}

// --- internal ---

/**
 * DeepSeek refuses a call without the thoughts that led to it, Gemini without its signature, and OpenRouter's and
 * LiteLLM's fields carry those of others. Whatever else a server adds to its answers others may refuse.
 */
const wantedBack: ReadonlySet<string> = new Set([
  'extra_content',
  'reasoning',
  'reasoning_content',
  'reasoning_details',
  'thinking_blocks',
])

function callOf(call: JsonObject): ReplyCall {
  const called = isJsonObject(call['function']) ? call['function'] : {}
  const given = called['arguments'] ?? ''
  return {
    id: stringOr(call['id'], ''),
    name: stringOr(called['name'], ''),
    argumentsText: typeof given === 'string' ? given : JSON.stringify(given),
    json: call,
  }
}

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0)
}
