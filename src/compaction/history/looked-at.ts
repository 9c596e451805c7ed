import { isJsonObject, parseJsonText, stringifyJson, type JsonObject } from '../../json/json-value.ts'
import type { Steps } from '../../json/source.ts'

/**
 * The arguments of a call as one would read them: each text with its own line breaks, behind its key. `what-stays`: without
 * what it has replaced by something new.
 */
export function* argumentLines(argumentsText: string, of: 'all' | 'what-stays' = 'all'): Steps<string> {
  if (argumentsText.length > PARSED_CHARS_MAX) return argumentsText
  const value = parseJsonText(argumentsText)
  if (!isJsonObject(value)) return argumentsText
  const lines: string[] = []
  const isReplacing = of === 'what-stays' && Object.keys(value).some((key) => isNew.test(key))
  const shown = Object.entries(value).filter(([key]) => !isReplacing || !isOld.test(key))
  const [only] = shown
  // A lone text speaks for itself.
  if (of === 'what-stays' && shown.length === 1 && typeof only?.[1] === 'string') return only[1]
  yield* addLines(Object.fromEntries(shown), DEPTH_MAX, lines)
  return lines.join('\n')
}

/**
 * A text as far as a recap looks at it: of a very long one the beginning and the end. What recorded conversations hold is
 * looked at whole.
 */
export function lookedAt(text: string): string {
  if (text.length <= 2 * END_CHARS) return text
  return `${text.slice(0, END_CHARS)}\n…\n${text.slice(-END_CHARS)}`
}

// --- internal ---

const END_CHARS = 131_072

/** Deeper arguments stand as the JSON that they are. */
const DEPTH_MAX = 4

/** Longer arguments are read as they are spelt: to be parsed they would take longer than other requests should wait. */
const PARSED_CHARS_MAX = 262_144

/** Values between two pauses. Each is text that was parsed already. */
const VALUES_PER_STEP = 64

/** How the arguments of edits are called: what is replaced, and by what. */
const isOld = /^old/i
const isNew = /^new/i

function* addLines(fields: JsonObject, depth: number, lines: string[]): Steps<void> {
  for (const [key, field] of Object.entries(fields)) {
    for (const value of Array.isArray(field) ? (field as readonly unknown[]) : [field]) {
      if (typeof value === 'string') lines.push(`${key}:${value.includes('\n') ? '\n' : ' '}${value}`)
      else if (depth > 1 && isJsonObject(value)) yield* addLines(value, depth - 1, lines)
      else lines.push(`${key}: ${stringifyJson(value) ?? '…'}`)
      if (lines.length % VALUES_PER_STEP === 0) yield
    }
  }
}
