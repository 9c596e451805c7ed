import { isJsonObject, isPresent, type JsonObject, objectsOf } from '../../json/json-value.ts'
import type { AnswerFacts, CacheMiss, EventsReader, Usage } from '../answer-contract.ts'
import { answerIn, countIn, finishOf, nothingSaid, removedThoughtsIn, statementsIn } from '../answer-json.ts'
import type { ServerEvent } from '../event-reader.ts'
import { type AnswerEventFacts, typedEventsReader } from '../typed-events.ts'
import { blockKindOf } from './block-kinds.ts'

/** What matters of a message, or of an error that stands in its place. */
export function readMessageAnswer(body: unknown): AnswerFacts | null {
  return answerIn(body, 'content', (answer, isError) => {
    const content = objectsOf(answer['content'])
    return {
      hasOutput: content.some(showsOutput),
      finish: finishOf(answer['stop_reason']),
      usage: messageUsage(answer['usage'], content.some(isServers)),
      removedThoughts: removedThoughtsIn(answer['input_transformations']),
      cacheMiss: cacheMiss(answer['diagnostics']),
      said: isError ? statementsIn(answer, 'content' in answer) : null,
    }
  })
}

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
      finish: isJsonObject(delta) ? finishOf(delta['stop_reason']) : null,
      usage: messageUsage(usage.value(), isSampledOften, begun),
      // Another model took over in the middle, for which other thoughts were left out.
      removedThoughts: removedThoughtsIn(event['input_transformations']),
    }
  }

  return typedEventsReader(readEvent, readMessageAnswer)
}

/** Whether an event may say more than a piece of the output, by its type alone. */
export function isTellingMessageEvent({ name, data, error }: ServerEvent): boolean {
  if (name === 'error' || error !== '' || serversPiece.test(data)) return true
  return !pieceName.test(name) && !piece.test(data)
}

/** The token counts of an answer, with all that was sampled added up. What was cached stands beside the other input; some servers leave it out. */
export function totalUsage(usage: JsonObject | null): Usage | null {
  if (usage === null) return null
  const input = inputFields.map((field) => countIn(usage[field]))
  if (input.every((tokens) => tokens === null)) return null
  return {
    promptTokens: input.reduce<number>((sum, tokens) => sum + (tokens ?? 0), 0),
    completionTokens: countIn(usage['output_tokens']),
    cachedTokens: countIn(usage['cache_read_input_tokens']),
    cacheWrittenTokens: countIn(usage['cache_creation_input_tokens']),
  }
}

/**
 * The usage of a stream, as its events state it one by one. The later ones state more: what they repeat is corrected. vLLM
 * counts all input as new at the beginning, and tells in the end what of it was cached. An input of nothing at all corrects
 * none: some servers count it at the beginning alone, and say zero in the end.
 */
export function createStreamedUsage() {
  const usage: Record<string, unknown> = {}
  let fields = 0
  let isStated = false
  return {
    add: (stated: unknown) => {
      if (!isJsonObject(stated)) return
      isStated = true
      const hasInput = (totalUsage(stated)?.promptTokens ?? 0) > 0
      for (const [key, value] of Object.entries(stated)) {
        const isKnown = Object.hasOwn(usage, key)
        const isNothing = value === null || (value === 0 && !hasInput && inputFields.includes(key))
        if (isKnown ? isNothing : fields === FIELDS_MAX) continue
        if (!isKnown) fields += 1
        usage[key] = value
      }
    },
    /** Null as long as none is stated. It grows. */
    value: () => (isStated ? usage : null),
  }
}

// --- internal ---

/** Whether a block is what the server has done itself: then the model was sampled anew behind it. */
function isServers(block: JsonObject): boolean {
  return blockKindOf(block, 'assistant') === 'done'
}

/** Whether a block holds something to show. Thoughts may be encrypted, and a text empty. */
function showsOutput(block: JsonObject): boolean {
  switch (block['type']) {
    case 'text':
      return isPresent(block['text'])
    case 'thinking':
      return isPresent(block['thinking'])
    case 'redacted_thinking':
      return false
    default:
      return true
  }
}

/**
 * The token counts of an answer. A model that uses the server's own tools is sampled several times for one answer, and all of
 * its prompts are added up in the counts: the one that was sent is the first, as a stream states at its beginning.
 */
function messageUsage(usage: unknown, isSampledOften: boolean, begun: Usage | null = null): Usage | null {
  if (!isJsonObject(usage)) return null
  const total = totalUsage(usage)
  const iterations: readonly unknown[] = Array.isArray(usage['iterations']) ? usage['iterations'] : []
  const sampled = iterations.find((each) => isJsonObject(each) && each['type'] === 'message')
  const first = isJsonObject(sampled) ? totalUsage(sampled) : isSampledOften ? begun : null
  if (total === null) return null
  if (first === null) return isSampledOften ? { ...total, isSum: true } : total
  return { ...first, completionTokens: total.completionTokens ?? first.completionTokens }
}

const cacheMisses: ReadonlyMap<unknown, CacheMiss> = new Map([
  ['model_changed', 'model'],
  ['system_changed', 'system'],
  ['tools_changed', 'tools'],
  ['messages_changed', 'messages'],
  ['previous_message_not_found', 'unknown'],
  ['unavailable', 'unavailable'],
])

/** Why the prompt was not found in the cache, if the client has asked and it was not. */
function cacheMiss(diagnostics: unknown): CacheMiss | null {
  const stated = isJsonObject(diagnostics) ? diagnostics['cache_miss_reason'] : null
  if (stated === null || stated === undefined) return null
  return cacheMisses.get(isJsonObject(stated) ? stated['type'] : stated) ?? 'other'
}

/** A usage has a dozen fields. Others are copied by whatever adds usages up. */
const FIELDS_MAX = 64

const inputFields = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens']

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
