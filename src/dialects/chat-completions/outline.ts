import { isJsonObject, isPresent, type JsonObject } from '../../conversation/json-value.ts'
import { positiveInteger } from '../body-members.ts'
import { isPlainText } from '../content/plain-text.ts'
import type { BodyOutline } from '../contract.ts'

/** The outline of a chat completion request; null if its messages hold more than text and calls. */
export function outlineOfChat({ model, messages, ...body }: JsonObject): BodyOutline | null {
  if (typeof model !== 'string' || !Array.isArray(messages) || messages.length === 0) return null
  if (!messages.every(isPlainMessage)) return null
  const outputTokens = positiveInteger(body['max_completion_tokens']) ?? positiveInteger(body['max_tokens'])
  return { model, outputTokens }
}

// --- internal ---

function isPlainMessage(message: unknown): boolean {
  if (!isJsonObject(message) || isPresent(message['audio'])) return false
  return typeof message['role'] === 'string' && isPlainText(message['content'])
}
