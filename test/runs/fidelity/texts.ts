import { callsOf, isObject, textsOf, type WireMessage } from '../../support/strict-upstream/wire-message.ts'

/**
 * What a model reads in a message: each text of its content, and each text inside its calls' arguments. Runs of
 * words never cross from one to the next.
 */
export function textsIn(message: WireMessage): readonly string[] {
  const written = callsOf(message).flatMap(({ argumentsText }) => argumentTexts(argumentsText))
  return [...textsOf(message.content), ...written].map(unescaped)
}

// --- internal ---

/** The values of a call's arguments; the keys are the tool's, not the conversation's. */
function argumentTexts(argumentsText: string): readonly string[] {
  try {
    return leaves(JSON.parse(argumentsText))
  } catch {
    return [argumentsText]
  }
}

function leaves(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  if (typeof value === 'number') return [String(value)]
  if (Array.isArray(value)) return value.flatMap(leaves)
  return isObject(value) ? Object.values(value).flatMap(leaves) : []
}

/**
 * A recap may quote arguments as the JSON that they were, where a line break is two characters. Every text is read
 * as if it had been quoted so, and both spellings of the same words are the same words.
 */
function unescaped(text: string): string {
  return text.includes('\\') ? text.replaceAll(/\\+[nrt]/g, ' ').replaceAll(/\\+"/g, '"') : text
}
