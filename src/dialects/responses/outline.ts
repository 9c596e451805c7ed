import { isJsonObject, isPresent, type JsonObject } from '../../conversation/json-value.ts'
import { positiveInteger } from '../body-members.ts'
import { isPlainText } from '../content/plain-text.ts'
import type { BodyOutline } from '../contract.ts'
import { compactsItself } from './body.ts'

/** The outline of a request for a response; null if its input holds more than text and calls, or the server more than its input. */
export function outlineOfResponse({ model, input, ...body }: JsonObject): BodyOutline | null {
  if (typeof model !== 'string' || serverFields.some((name) => isPresent(body[name]))) return null
  if (compactsItself(body['context_management'])) return null
  const isPlain = Array.isArray(input)
    ? input.length > 0 && input.every(isPlainItem)
    : typeof input === 'string'
  return isPlain ? { model, outputTokens: positiveInteger(body['max_output_tokens']) } : null
}

// --- internal ---

/** By these the server has a part of the history, or its system text. */
const serverFields = ['previous_response_id', 'conversation', 'previous_input_messages', 'prompt'] as const

function isPlainItem(item: unknown): boolean {
  if (!isJsonObject(item)) return false
  switch (item['type']) {
    case undefined:
    case 'message':
      return typeof item['role'] === 'string' && isPlainText(item['content'])
    case 'function_call':
      return true
    case 'function_call_output':
      return isPlainText(item['output'])
    default:
      return false
  }
}
