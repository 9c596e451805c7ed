import {
  isJsonObject,
  type JsonObject,
  objectsOf,
  parseJsonText,
  stringifyJson,
} from '../../json/json-value.ts'
import type { AnswerFacts, Answers, Finish, Usage } from '../answer-contract.ts'
import { answerIn, countIn, finishOf, isText } from '../answer-json.ts'
import { readAnswerEvent } from '../typed-events.ts'

/** What matters of the parsed body of an answer, or of one line of a streamed one. */
export function readChatAnswer(body: unknown): AnswerFacts | null {
  return answerIn(body, 'message', (answer, isError) => {
    const message = isJsonObject(answer['message']) ? answer['message'] : {}
    const calls = objectsOf(message['tool_calls'])
    return {
      hasOutput: isText(message['content']) || isText(message['thinking']) || calls.length > 0,
      finish: chatFinish(answer),
      usage: chatUsage(answer),
      // Whoever else speaks its dialect does not say how long the model took to load.
      isOllama: typeof answer['load_duration'] === 'number',
      said: isError ? answer : null,
    }
  })
}

/** Why a reply ended; null while it goes on. */
export function chatFinish({ done, done_reason: reason }: JsonObject): Finish | null {
  return done === true ? (finishOf(reason) ?? 'end') : null
}

/** What the last line states; null where it does not say how long the prompt was. */
export function chatUsage({ prompt_eval_count: prompt, eval_count: reply }: JsonObject): Usage | null {
  const promptTokens = countIn(prompt)
  if (promptTokens === null) return null
  return { promptTokens, completionTokens: countIn(reply), cachedTokens: null, cacheWrittenTokens: null }
}

/** The numbers of a last line, under their names: counts of tokens, and nanoseconds. */
export function statedNumbers(answer: JsonObject): JsonObject | null {
  if (chatUsage(answer) === null) return null
  return Object.fromEntries(
    Object.entries(answer).filter(
      ([key, value]) => /_(?:count|duration)$/.test(key) && typeof value === 'number',
    ),
  )
}

/** A value as a line of a stream; '' if it is nested too deep to be written. */
export function lineOf(json: JsonObject): string {
  const text = stringifyJson(json)
  return text === null ? '' : `${text}\n`
}

/** Whether a line is the last of its stream. It is parsed: arguments of a call are no text here, and may say `"done": true`. */
export function isLastLine(line: string): boolean {
  const json = parseJsonText(line)
  return isJsonObject(json) && json['done'] === true
}

/** Reads what a server answers: a stream is a JSON object a line, of which the last states what it took. */
export const chatAnswers: Answers = {
  streamType: 'application/x-ndjson',
  limits: { eventCharactersMax: 1 << 20, undecidedCharactersMax: 256 * 1024, endingBytes: 4_096 },
  read: readChatAnswer,
  openStream: () => (line) => readAnswerEvent(line, readChatAnswer),
  isTelling: ({ data }) => telling.test(data),
  eventsOf: (body) => {
    const { message, model, created_at: at } = body
    const end = { ...body, message: { role: 'assistant', content: '' } }
    return [{ model, created_at: at, message, done: false }, end].map(lineOf)
  },
}

// --- internal ---

/** Only the last line and an error say more than a piece of the reply. */
const telling = /"done"\s*:\s*true|"error/
