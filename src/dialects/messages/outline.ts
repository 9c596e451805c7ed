import { isJsonObject, isPresent, type JsonObject } from '../../conversation/json-value.ts'
import { positiveInteger } from '../body-members.ts'
import { isPlainText } from '../content/plain-text.ts'
import type { BodyOutline } from '../contract.ts'
import { mayHaveBillingLine } from './billing-line.ts'
import { editsItself } from './body.ts'

/** The outline of a request for a message; null if its messages hold more than text and calls, or the server edits them. */
export function outlineOfMessage({ model, messages, system, ...body }: JsonObject): BodyOutline | null {
  if (typeof model !== 'string' || !Array.isArray(messages) || messages.length === 0) return null
  if (isPresent(body['thread']) || isPresent(body['container']) || editsItself(body['context_management']))
    return null
  if (!isPlainText(system) || mayHaveBillingLine(system) || !messages.every(isPlainMessage)) return null
  return { model, outputTokens: positiveInteger(body['max_tokens']) }
}

// --- internal ---

function isPlainMessage(message: unknown): boolean {
  if (!isJsonObject(message) || typeof message['role'] !== 'string') return false
  const { role, content } = message
  return (
    typeof content === 'string' ||
    (Array.isArray(content) && content.length > 0 && content.every((block) => isPlainBlock(block, role)))
  )
}

/** A call of the user's, or a result of the model's, is nothing that is known here. */
function isPlainBlock(block: unknown, role: unknown): boolean {
  if (!isJsonObject(block)) return false
  switch (block['type']) {
    case 'text':
      return typeof block['text'] === 'string'
    case 'tool_use':
      return role === 'assistant'
    case 'tool_result':
      return role === 'user' && isPlainText(block['content'])
    default:
      return false
  }
}
