import { isJsonObject } from '../../conversation/json-value.ts'

/** Whether a parsed content is nothing but text. */
export function isPlainText(content: unknown): boolean {
  if (typeof content === 'string' || content === null || content === undefined) return true
  return Array.isArray(content) && content.every(isTextPart)
}

// --- internal ---

const textTypes: ReadonlySet<unknown> = new Set(['text', 'input_text', 'output_text'])

function isTextPart(part: unknown): boolean {
  return isJsonObject(part) && textTypes.has(part['type']) && typeof part['text'] === 'string'
}
