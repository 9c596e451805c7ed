import { readCalls } from './calls.ts'
import { contentParts } from './content.ts'
import { isJsonObject, parseJson } from '../../conversation/json-value.ts'
import type { Message, ParsedMessage } from '../../conversation/message.ts'
import { readable } from './readable.ts'
import type { Source } from '../../conversation/source.ts'
import { readUncut } from './uncut.ts'

/**
 * The text, the calls and the rest of what counts of a message whose facts were read, so that it is known to be an object:
 * of a very long one what its readable form has of them. Never throws.
 */
export function parseMessage(source: Source, message: Message): ParsedMessage {
  const form = readable(source, message)
  const parsed = parseJson(form.source, form.message)
  if (!isJsonObject(parsed)) return { text: '', calls: [], uncut: '', opaqueCharacters: 0 }
  const texts = contentParts(parsed['content']).flatMap((part) => (part.kind === 'text' ? [part.text] : []))
  return { text: texts.join('\n'), calls: readCalls(parsed) ?? [], ...readUncut(parsed) }
}
