import { isJsonObject, isPresent, type JsonObject } from '../../json/json-value.ts'
import type { EventsReader } from '../answer-contract.ts'
import type { ServerEvent } from '../event-reader.ts'
import { nothingSaid, statesError } from '../answer-json.ts'
import { type AnswerEventFacts, typedEventsReader } from '../typed-events.ts'
import { statusOf } from './reply/events.ts'
import { hasOutput, isCall, isOfServer, readResponse, statementsOfResponse } from './read-answer.ts'

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

/**
 * An event of a piece of the output, `response.output_text.delta` for example: it says no more than that, unless it begins or
 * ends an item, which may be a call. No quotation mark within a text of JSON stands unescaped.
 */
const piece = /"type"\s*:\s*"response\.(?!output_item\.)\w+\.[\w.]+"/

/** One that tells of a response that has only begun: it names the model, as the ones before it did, … */
const beginning = /"type"\s*:\s*"response\.(?:created|in_progress|queued)"/

/** … unless it states an error. */
const statedError = /"error"\s*:\s*[^\sn]/
