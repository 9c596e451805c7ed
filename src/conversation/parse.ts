import { readCalls } from './calls.ts'
import { contentParts } from './content.ts'
import { isJsonObject, parseJson } from './json-value.ts'
import type { ParsedMessage } from './message.ts'
import type { Source, Span } from './source.ts'
import { readUncut } from './uncut.ts'

/** The text, the calls and the rest of what counts of a message whose facts were read, so that it is known to be an object. Never throws. */
export function parseMessage(source: Source, message: Span): ParsedMessage {
  const parsed = parseJson(source, message)
  if (!isJsonObject(parsed)) return { text: '', calls: [], uncut: '', opaqueCharacters: 0 }
  const texts = contentParts(parsed['content']).flatMap((part) => (part.kind === 'text' ? [part.text] : []))
  return { text: texts.join('\n'), calls: readCalls(parsed) ?? [], ...readUncut(parsed) }
}
