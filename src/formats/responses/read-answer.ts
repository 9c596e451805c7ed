import { isJsonObject, isPresent, stringOr, type JsonObject } from '../../json/json-value.ts'
import type { AnswerFacts, Finish, RemovalReason, Usage } from '../answer-contract.ts'
import { answerIn, countIn, countRemoved, isText, statementsIn } from '../answer-json.ts'
import { kindOf } from './item-kinds.ts'
import { outputOf } from './reply/output.ts'

/** What matters of a response, or of an error that stands in its place. */
export function readResponse(body: unknown): AnswerFacts | null {
  return answerIn(body, 'output', (answer, statesError) => {
    const output = outputOf(answer)
    const finish = responseFinish(answer, output.some(isCall))
    const isError = finish === 'error' || statesError
    return {
      hasOutput: output.some(hasOutput),
      finish,
      usage: responseUsage(answer['usage'], output.some(isOfServer)),
      isError,
      removedThoughts: countRemoved(
        answer['input_transformations'],
        ({ type, action }) => type === 'reasoning' && action === 'removed',
        removalReasons,
      ),
      said: isError ? statementsOfResponse(answer) : null,
    }
  })
}

/** Why a response ended; null if that is not stated. A server may call an incomplete one completed and still say why. */
export function responseFinish(response: JsonObject, hasCalls: boolean): Finish | null {
  const details = response['incomplete_details']
  const reason = isJsonObject(details) ? details['reason'] : undefined
  if (reason === 'max_output_tokens') return 'length'
  if (reason === 'content_filter') return 'filtered'
  // Anthropic's word, where a gateway speaks this API for its models.
  if (reason === 'model_context_window_exceeded') return 'window'
  const isCompaction = response['object'] === 'response.compaction'
  switch (isCompaction ? 'completed' : stringOr(response['status'], '')) {
    case 'completed':
      return hasCalls ? 'calls' : 'end'
    case 'failed':
      return 'error'
    case 'incomplete':
    case 'cancelled':
      return 'other'
    default:
      return null
  }
}

/** SGLang counts a plain response under the names of a chat's. */
export function responseUsage(usage: unknown, isSampledOften = false): Usage | null {
  if (!isJsonObject(usage)) return null
  const promptTokens = countIn(usage['input_tokens'] ?? usage['prompt_tokens'])
  if (promptTokens === null) return null
  const stated = usage['input_tokens_details'] ?? usage['prompt_tokens_details']
  const details = isJsonObject(stated) ? stated : {}
  return {
    promptTokens,
    completionTokens: countIn(usage['output_tokens'] ?? usage['completion_tokens']),
    cachedTokens: countIn(details['cached_tokens']),
    cacheWrittenTokens: countIn(details['cache_write_tokens']),
    ...(isSampledOften ? { isSum: true } : {}),
  }
}

/** Whether the server has done it itself: the model was sampled anew behind it. */
export function isOfServer(item: JsonObject): boolean {
  return kindOf(item) === 'done'
}

export function isCall(item: JsonObject): boolean {
  return kindOf(item) === 'call'
}

/** Whether an item of an output holds something to show. Thoughts may be encrypted, and a message empty. */
export function hasOutput(item: JsonObject): boolean {
  switch (item['type']) {
    case 'reasoning':
      return [item['summary'], item['content']].some(hasText)
    case 'message':
      return hasText(item['content'])
    default:
      return true
  }
}

/**
 * All that may say what went wrong. A response holds the reply beside it, and what the client gave: instructions, metadata.
 * OpenRouter calls an overflow an invalid prompt, and says in `error_type` which it was.
 */
export function statementsOfResponse(body: JsonObject): JsonObject {
  return statementsIn(body, 'output' in body || body['object'] === 'response')
}

// --- internal ---

const removalReasons: ReadonlyMap<unknown, RemovalReason> = new Map([
  ['prefix_mismatch', 'prefix'],
  ['model_mismatch', 'model'],
  ['organization_mismatch', 'organization'],
  ['end_user_mismatch', 'end-user'],
  ['turn_boundary', 'turn'],
])

function hasText(content: unknown): boolean {
  if (!Array.isArray(content)) return isText(content)
  return content.some((part) => {
    const text: unknown = isJsonObject(part) ? (part['text'] ?? part['refusal']) : part
    return text === undefined ? isPresent(part) : isPresent(text)
  })
}
