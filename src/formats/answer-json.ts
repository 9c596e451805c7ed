import { braceOpen, bracketOpen, colon, comma, endOfString, quote } from '../json/json-scan.ts'
import {
  isJsonObject,
  isPresent,
  type JsonObject,
  objectsOf,
  parseJsonText,
  stringOr,
} from '../json/json-value.ts'
import type { AnswerFacts, Finish, RemovalReason, RemovedThoughts } from './answer-contract.ts'

/**
 * The value of a text that an upstream has written; undefined if it is no JSON, or so much that to parse it would hold up
 * everybody: a few megabytes of `{}` take half a second. Never throws.
 */
export function parseAnswerText(text: string): unknown {
  return isTooMuch(text) ? undefined : parseJsonText(text)
}

/** Whether a text of JSON takes too long to be parsed in one go. */
export function isTooMuch(text: string): boolean {
  if (text.length <= FREE_CHARACTERS) return false
  let effort = 0
  for (let index = 0; index < text.length && effort <= EFFORT_MAX; index += 1) {
    const code = text.charCodeAt(index)
    if (code === quote) {
      const end = endOfString(text, index)
      if (end === -1) break
      index = end - 1
    } else if (code === comma) effort += 1
    else if (code === braceOpen || code === bracketOpen) effort += OPENING_EFFORT
    else if (code === colon) effort += KEY_EFFORT
  }
  return effort > EFFORT_MAX
}

/**
 * Whether a body of any server states an error, be it beside an answer. A message or details alone are one only if no
 * answer stands there: `hasAnswer`.
 */
export function statesError(body: JsonObject, hasAnswer: boolean): boolean {
  if (isPresent(body['error']) || isText(body['error_message']) || isText(body['error_type'])) return true
  if (body['object'] === 'error' || body['type'] === 'error') return true
  if (body['success'] === false && isPresent(body['errors'])) return true
  // MiniMax answers 200 with an empty answer and says here what went wrong.
  const baseResponse = body['base_resp']
  if (isJsonObject(baseResponse) && baseResponse['status_code'] !== undefined) {
    return baseResponse['status_code'] !== 0
  }
  return !hasAnswer && (isText(body['message']) || isPresent(body['detail']))
}

/** What of a body may say what went wrong: all of it, or where a reply and what the client gave stand beside it some fields. */
export function statementsIn(body: JsonObject, isReply: boolean): JsonObject {
  return isReply ? Object.fromEntries(Object.entries(body).filter(([key]) => stating.has(key))) : body
}

/**
 * What matters of a parsed body, whose reply stands under `replyKey`: `read` knows an object, and whether it states an error. A
 * list holds errors or nothing that can be read. Null if it is neither.
 */
export function answerIn(
  body: unknown,
  replyKey: string,
  read: (body: JsonObject, isError: boolean) => Partial<AnswerFacts>,
): AnswerFacts | null {
  const isFailed = (each: unknown): boolean =>
    isJsonObject(each) && statesError(each, Array.isArray(each[replyKey]))
  if (Array.isArray(body)) {
    const isError = body.some(isFailed)
    return { ...nothingSaid, isError, said: isError ? body : null }
  }
  if (!isJsonObject(body)) return null
  const model = isText(body['model']) ? body['model'] : null
  const isError = isFailed(body)
  return { ...nothingSaid, model, isError, ...read(body, isError) }
}

/**
 * Counts the thoughts that a server left out of a prompt, by its reasons. Where they stood is not read, whatever is said of that;
 * such as were shown although they failed a check are told of, too.
 */
export function removedThoughtsIn(transformations: unknown): RemovedThoughts | null {
  if (!Array.isArray(transformations)) return null
  const removed: Partial<Record<RemovalReason, number>> = {}
  for (const { type, action, reason: stated } of objectsOf(transformations)) {
    if (type !== 'thinking_dropped' && !(type === 'reasoning' && action === 'removed')) continue
    const reason = removalReasons.get(stringOr(stated, '').replace(/_(?:binding_)?mismatch$/, '')) ?? 'other'
    removed[reason] = (removed[reason] ?? 0) + 1
  }
  return removed
}

/** Why a reply ended, by the reason that is stated in the words of any dialect, as gateways hand them on; null if none is. */
export function finishOf(reason: unknown): Finish | null {
  return isText(reason) ? (finishes.get(reason) ?? 'other') : null
}

/** A number of tokens, for example; null where a field is none. */
export function countIn(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null
}

/** Whether a field says something in words. */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

/** What an answer says that says nothing yet. */
export const nothingSaid: AnswerFacts = {
  hasOutput: false,
  finish: null,
  usage: null,
  model: null,
  isOllama: false,
  isError: false,
  removedThoughts: null,
  cacheMiss: null,
  said: null,
}

// --- internal ---

/** Anthropic says `prefix_binding_mismatch` and OpenAI `prefix_mismatch`, and so of the others. */
const removalReasons: ReadonlyMap<string, RemovalReason> = new Map([
  ['prefix', 'prefix'],
  ['model', 'model'],
  ['organization', 'organization'],
  ['end_user', 'end-user'],
  ['turn_boundary', 'turn'],
])

const finishes: ReadonlyMap<string, Finish> = new Map([
  ['stop', 'end'],
  ['end_turn', 'end'],
  ['stop_sequence', 'end'],
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['max_output_tokens', 'length'],
  ['tool_calls', 'calls'],
  ['tool_use', 'calls'],
  ['content_filter', 'filtered'],
  ['refusal', 'filtered'],
  ['model_context_window_exceeded', 'window'],
  ['error', 'error'],
])

const stating: ReadonlySet<string> = new Set([
  'error',
  'errors',
  'error_code',
  'error_message',
  'error_type',
  'code',
  'message',
  'detail',
  'base_resp',
])

/** A shorter text is parsed in some milliseconds, whatever it holds. */
const FREE_CHARACTERS = 131_072

/** How long lists, objects and keys take, measured in elements of a list: what is counted is what V8 makes. */
const OPENING_EFFORT = 8
const KEY_EFFORT = 12

/** About thirty milliseconds. */
const EFFORT_MAX = 1_000_000
