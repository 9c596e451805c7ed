import { isJsonObject, isPresent, type JsonObject } from '../conversation/json-value.ts'

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

/** What of a body may say what went wrong, where a reply and what the client gave stand beside it. */
export function statementsOf(body: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([key]) => stating.has(key)))
}

// --- internal ---

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

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}
