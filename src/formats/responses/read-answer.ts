import { isJsonObject, isPresent, stringOr, type JsonObject } from '../../json/json-value.ts'
import type { AnswerFacts, Finish, RemovalReason, RemovedThoughts, Usage } from '../answer-contract.ts'
import { countIn, isText, nothingSaid, statementsOf, statesError } from '../answer-json.ts'
import { kindOf } from './item-kinds.ts'
import { outputOf } from './reply/output.ts'

/** What matters of a response, or of an error that stands in its place. */
export function readResponse(body: unknown): AnswerFacts | null {
  if (Array.isArray(body)) {
    const isError = body.some((item) => isJsonObject(item) && statesError(item, false))
    return { ...nothingSaid, isError, said: isError ? body : null }
  }
  if (!isJsonObject(body)) return null
  const output = outputOf(body)
  const finish = responseFinish(body, output.some(isCall))
  const isError = finish === 'error' || statesError(body, Array.isArray(body['output']))
  return {
    ...nothingSaid,
    hasOutput: output.some(hasOutput),
    finish,
    usage: responseUsage(body['usage'], output.some(isOfServer)),
    model: isText(body['model']) ? body['model'] : null,
    isError,
    removedThoughts: removedThoughts(body['input_transformations']),
    said: isError ? statementsIn(body) : null,
  }
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
export function statementsIn(body: JsonObject): JsonObject {
  if (!('output' in body) && body['object'] !== 'response') return body
  return statementsOf(body)
}

// --- internal ---

const removalReasons: ReadonlyMap<unknown, RemovalReason> = new Map([
  ['prefix_mismatch', 'prefix'],
  ['model_mismatch', 'model'],
  ['organization_mismatch', 'organization'],
  ['end_user_mismatch', 'end-user'],
  ['turn_boundary', 'turn'],
])

/** Counts what was left out. The ids in it are not read, whatever they are. */
function removedThoughts(transformations: unknown): RemovedThoughts | null {
  if (!Array.isArray(transformations)) return null
  const removed: Partial<Record<RemovalReason, number>> = {}
  for (const each of transformations) {
    if (!isJsonObject(each) || each['type'] !== 'reasoning' || each['action'] !== 'removed') continue
    const reason = removalReasons.get(each['reason']) ?? 'other'
    removed[reason] = (removed[reason] ?? 0) + 1
  }
  return removed
}

function hasText(content: unknown): boolean {
  if (!Array.isArray(content)) return isText(content)
  return content.some((part) => {
    const text: unknown = isJsonObject(part) ? (part['text'] ?? part['refusal']) : part
    return text === undefined ? isPresent(part) : isPresent(text)
  })
}
