import { isJsonObject, isPresent, objectsOf, type JsonObject } from '../../json/json-value.ts'
import type { AnswerEvent, AnswerFacts, AnswerLimits, Usage } from '../answer-contract.ts'
import type { ServerEvent } from '../event-reader.ts'
import { answerIn, countIn, finishOf, isText, statesError } from '../answer-json.ts'
import { readAnswerEvent } from '../typed-events.ts'
import { thoughtFields } from './thoughts.ts'

/** What matters of the parsed body of a chat completion, or of one chunk of a streamed one. Texts are never looked into. */
export function readAnswer(body: unknown): AnswerFacts | null {
  return answerIn(body, 'choices', (answer) => {
    const choices = objectsOf(answer['choices'])
    const said = saidOfError(answer, choices)
    return {
      hasOutput: choices.some(choiceHasOutput),
      finish: finishOf(choices.map((choice) => choice['finish_reason']).find(isText)),
      usage: readUsage(answer),
      isOllama: answer['system_fingerprint'] === 'fp_ollama',
      isError: said.length > 0,
      said: said.length > 0 ? said : null,
    }
  })
}

/** What an event of a streamed chat completion says. */
export function readEvent(event: ServerEvent): AnswerEvent {
  return readAnswerEvent(event, readAnswer)
}

/** Longer events hold media. A stream that is silent longer than any role delta or comment is not waited for. */
export const chatLimits: AnswerLimits = {
  eventCharactersMax: 1 << 20,
  undecidedCharactersMax: 256 * 1024,
  endingBytes: 4_096,
}

export function isTelling({ name, data, error }: ServerEvent): boolean {
  return name !== '' || error !== '' || telling.test(data)
}

/** From `usage`, or from `x_groq.usage` where Groq puts it in a stream; without either from llama.cpp's timings. */
export function readUsage(body: JsonObject): Usage | null {
  const groq = body['x_groq']
  const usage = isJsonObject(body['usage']) ? body['usage'] : isJsonObject(groq) ? groq['usage'] : null
  return (isJsonObject(usage) ? statedUsage(usage) : null) ?? timedUsage(body['timings'])
}

// --- internal ---

/** Only events with one of these hold more than a delta. */
const telling =
  /"usage"\s*:\s*\{|"x_groq"|"finish_reason"\s*:\s*"|"error|"object"\s*:\s*"error"|"type"\s*:\s*"error"|"base_resp"/

const outputFields = [
  'content',
  'refusal',
  'tool_calls',
  'function_call',
  'audio',
  ...thoughtFields.map(({ name }) => name),
]

function choiceHasOutput(choice: JsonObject): boolean {
  return (
    isText(choice['text']) ||
    [choice['delta'], choice['message']].some(
      (message) => isJsonObject(message) && outputFields.some((field) => isPresent(message[field])),
    )
  )
}

/** All that may say what went wrong, if anything did: a code beside the error's own message, or a message beside its code. */
function saidOfError(body: JsonObject, choices: readonly JsonObject[]): readonly unknown[] {
  const failed = choices.filter((choice) => isPresent(choice['error']) || choice['finish_reason'] === 'error')
  if (failed.length === 0 && !statesError(body, Array.isArray(body['choices']))) return []
  return [body, ...failed.map((choice) => choice['error']).filter(isPresent)]
}

/**
 * Cached tokens are counted among the prompt's wherever they stand under OpenAI's names, or DeepSeek's and Moonshot's. Under
 * Anthropic's names alone they are beside it: gateways that write those for OpenAI's clients (LiteLLM) give OpenAI's as well.
 */
function statedUsage(usage: JsonObject): Usage | null {
  const statedTokens = countIn(usage['prompt_tokens'])
  if (statedTokens === null) return null
  const details = isJsonObject(usage['prompt_tokens_details']) ? usage['prompt_tokens_details'] : {}
  const countedTokens = firstCount(
    details['cached_tokens'],
    usage['prompt_cache_hit_tokens'],
    usage['cached_tokens'],
  )
  const readTokens = countIn(usage['cache_read_input_tokens'])
  const writtenTokens = countIn(usage['cache_creation_input_tokens'])
  const besideTokens = (readTokens ?? 0) + (writtenTokens ?? 0)
  const completionTokens = countIn(usage['completion_tokens'])
  // More cached than counted, or a sum that holds the cached ones beside prompt and reply: then they do stand beside. A
  // larger sum may hold thoughts.
  const sumTokens = statedTokens + (countedTokens ?? 0) + (completionTokens ?? 0)
  const isOutside =
    countedTokens !== null &&
    countedTokens > 0 &&
    (countedTokens > statedTokens || countIn(usage['total_tokens']) === sumTokens)
  return {
    promptTokens: statedTokens + (isOutside ? countedTokens : countedTokens === null ? besideTokens : 0),
    completionTokens,
    cachedTokens: countedTokens ?? readTokens,
    cacheWrittenTokens: firstCount(
      details['cache_write_tokens'],
      details['cache_creation_tokens'],
      writtenTokens,
    ),
  }
}

/**
 * llama.cpp's server ends every stream with its timings, asked or not. Those of before September 2025 leave out what
 * came from the cache, and say nothing of a prompt.
 */
function timedUsage(timings: unknown): Usage | null {
  if (!isJsonObject(timings)) return null
  const [readTokens, cachedTokens] = [countIn(timings['prompt_n']), countIn(timings['cache_n'])]
  if (readTokens === null || cachedTokens === null) return null
  return {
    promptTokens: cachedTokens + readTokens,
    completionTokens: countIn(timings['predicted_n']),
    cachedTokens,
    cacheWrittenTokens: null,
  }
}

function firstCount(...values: readonly unknown[]): number | null {
  for (const value of values) {
    const counted = countIn(value)
    if (counted !== null) return counted
  }
  return null
}
