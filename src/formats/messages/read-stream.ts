import { isJsonObject, isPresent, type JsonObject } from '../../json/json-value.ts'
import type { AnswerFacts, EventsReader, Usage } from '../answer-contract.ts'
import type { ServerEvent } from '../event-reader.ts'
import { nothingSaid } from '../answer-json.ts'
import { type AnswerEventFacts, typedEventsReader } from '../typed-events.ts'
import { isServers, showsOutput, messageFinish, readMessageAnswer, removedThoughts } from './read-answer.ts'
import { createStreamedUsage, messageUsage } from './usage.ts'

/** A reader of one streamed message. Its first event counts the input, and the last one the output; either may say all. */
export function openMessageStream(): EventsReader {
  const usage = createStreamedUsage()
  /** What the first event states: of the first prompt, whatever is added up later. */
  let begun: Usage | null = null
  let isSampledOften = false

  function readEvent(event: JsonObject, type: string): AnswerEventFacts {
    const { message, content_block: block, delta } = event
    if (isPresent(event['error']) || !isOfMessage(type)) return readMessageAnswer(event) ?? {}
    switch (type) {
      case 'message_start':
        return isJsonObject(message) ? readStart(message) : {}
      case 'message_delta':
        return readDelta(event)
      case 'message_stop':
        return 'done'
      case 'content_block_start':
        isSampledOften ||= isJsonObject(block) && isServers(block)
        return { hasOutput: isJsonObject(block) && showsOutput(block) }
      default:
        return { hasOutput: isJsonObject(delta) && isPiece(delta) }
    }
  }

  function readStart(message: JsonObject): Partial<AnswerFacts> {
    usage.add(message['usage'])
    const facts = readMessageAnswer(message) ?? nothingSaid
    const counted = facts.usage
    // How many tokens are written is not known yet. Some servers do not know, either, how many they have read.
    const isCounted = counted !== null && counted.promptTokens > 0
    if (isCounted) begun = counted
    return { ...facts, usage: isCounted ? { ...counted, completionTokens: null } : null }
  }

  function readDelta(event: JsonObject): Partial<AnswerFacts> {
    const { delta } = event
    usage.add(event['usage'])
    return {
      finish: isJsonObject(delta) ? messageFinish(delta['stop_reason']) : null,
      usage: messageUsage(usage.value(), isSampledOften, begun),
      // Another model took over in the middle, for which other thoughts were left out.
      removedThoughts: removedThoughts(event['input_transformations']),
    }
  }

  return typedEventsReader(readEvent, readMessageAnswer)
}

/** Whether an event may say more than a piece of the output, by its type alone. */
export function isTellingMessageEvent({ name, data, error }: ServerEvent): boolean {
  if (name === 'error' || error !== '' || serversPiece.test(data)) return true
  return !pieceName.test(name) && !piece.test(data)
}

// --- internal ---

/** No quotation mark within a text of JSON stands unescaped. */
const piece = /"type"\s*:\s*"(?:content_block_(?:start|delta|stop)|ping)"/

/** The beginning of what the server does itself: usage behind it is a sum. */
const serversPiece = /"type"\s*:\s*"(?:server_tool_use|mcp_tool_use|[a-z_]+_tool_result)"/

const pieceName = /^(?:content_block_(?:start|delta|stop)|ping)$/

function isOfMessage(type: string): boolean {
  return type.startsWith('message_') || type.startsWith('content_block_') || type === 'ping'
}

/** Whether a delta says something that can be shown; a signature is none. */
function isPiece({ text, thinking, partial_json: json, citation, content }: JsonObject): boolean {
  return [text, thinking, json, citation, content].some(isPresent)
}
