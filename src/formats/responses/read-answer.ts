import { isJsonObject, isPresent, objectsOf, stringOr, type JsonObject } from '../../json/json-value.ts'
import type { AnswerFacts, EventsReader, Finish, Usage } from '../answer-contract.ts'
import {
  answerIn,
  countIn,
  finishOf,
  isText,
  nothingSaid,
  removedThoughtsIn,
  statementsIn,
  statesError,
} from '../answer-json.ts'
import type { ServerEvent } from '../event-reader.ts'
import { type AnswerEventFacts, typedEventsReader } from '../typed-events.ts'
import { kindOf } from './item-kinds.ts'
import { statusOf } from './reply/events.ts'

/** What matters of a response, or of an error that stands in its place. */
export function readResponse(body: unknown): AnswerFacts | null {
  return answerIn(body, 'output', (answer, isStated) => {
    const output = objectsOf(answer['output'])
    const finish = responseFinish(answer, output.some(isCall))
    const isError = finish === 'error' || isStated
    return {
      hasOutput: output.some(hasOutput),
      finish,
      usage: responseUsage(answer['usage'], output.some(isOfServer)),
      isError,
      removedThoughts: removedThoughtsIn(answer['input_transformations']),
      said: isError ? statementsOfResponse(answer) : null,
    }
  })
}

/**
 * Why a response ended; null if that is not stated. A server may call an incomplete one completed and still say what cut it.
 * Another word there, which a gateway has from another API, says less than the status and the calls do.
 */
export function responseFinish(response: JsonObject, hasCalls: boolean): Finish | null {
  const details = response['incomplete_details']
  const reason = finishOf(isJsonObject(details) ? details['reason'] : null)
  if (reason === 'length' || reason === 'filtered' || reason === 'window') return reason
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

export function isCall(item: JsonObject): boolean {
  return kindOf(item) === 'call'
}

/** A reader of one streamed response. Its last event may leave out the output: the calls were among what came before. */
export function openStream(): EventsReader {
  let hasCalls = false
  let isSampledOften = false

  function readEvent(event: JsonObject, type: string): AnswerEventFacts {
    const { response, item, delta } = event
    if (isJsonObject(response)) return readStated(event, response, type)
    if (isJsonObject(item)) {
      hasCalls ||= isCall(item)
      isSampledOften ||= isOfServer(item)
      // Servers announce a message before they write it, and thoughts, too; of those nothing is seen yet.
      return { hasOutput: item['type'] !== 'reasoning' || hasOutput(item) }
    }
    if (type.startsWith('response.') && !isPresent(event['error'])) return { hasOutput: isPresent(delta) }
    return readResponse(event) ?? {}
  }

  function readStated(event: JsonObject, response: JsonObject, type: string): AnswerEventFacts {
    const status = statusOf(type, response)
    const stated = readResponse({ ...response, status }) ?? nothingSaid
    const usage = stated.usage && isSampledOften ? { ...stated.usage, isSum: true } : stated.usage
    const facts = { ...stated, usage }
    const { response: _response, ...rest } = event
    if (facts.isError || statesError(rest, true))
      return { ...facts, isError: true, said: [rest, statementsOfResponse(response)] }
    return facts.finish === 'end' && hasCalls ? { ...facts, finish: 'calls' } : facts
  }

  return typedEventsReader(readEvent, readResponse)
}

/** Whether an event may say more than a piece of the output, by its type alone. */
export function isTellingEvent({ name, data, error }: ServerEvent): boolean {
  if (name === 'error' || error !== '') return true
  return !piece.test(data) && (!beginning.test(data) || statedError.test(data))
}

// --- internal ---

/** Whether the server has done it itself: the model was sampled anew behind it. */
function isOfServer(item: JsonObject): boolean {
  return kindOf(item) === 'done'
}

/** Whether an item of an output holds something to show. Thoughts may be encrypted, and a message empty. */
function hasOutput(item: JsonObject): boolean {
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
function statementsOfResponse(body: JsonObject): JsonObject {
  return statementsIn(body, 'output' in body || body['object'] === 'response')
}

function hasText(content: unknown): boolean {
  if (!Array.isArray(content)) return isText(content)
  return content.some((part) => {
    const text: unknown = isJsonObject(part) ? (part['text'] ?? part['refusal']) : part
    return text === undefined ? isPresent(part) : isPresent(text)
  })
}

/**
 * An event of a piece of the output, `response.output_text.delta` for example: it says no more than that, unless it begins or
 * ends an item, which may be a call. No quotation mark within a text of JSON stands unescaped.
 */
const piece = /"type"\s*:\s*"response\.(?!output_item\.)\w+\.[\w.]+"/

/** One that tells of a response that has only begun: it names the model, as the ones before it did, … */
const beginning = /"type"\s*:\s*"response\.(?:created|in_progress|queued)"/

/** … unless it states an error. */
const statedError = /"error"\s*:\s*[^\sn]/
