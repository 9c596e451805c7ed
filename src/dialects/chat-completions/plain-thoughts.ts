import { contentParts } from './content.ts'
import { isJsonObject } from '../../conversation/json-value.ts'
import type { Message, ParsedMessage } from '../../conversation/message.ts'
import { entriesIn } from '../../conversation/spans-in.ts'
import type { Source, Span, Steps } from '../../conversation/source.ts'

/** The thoughts of a message, and every place where they are written. */
export type PlainThoughts = { readonly text: string; readonly spans: readonly Span[] }

/**
 * Thoughts that are plain text in fields of their own, as servers of open models write them: whoever reads them may read
 * them shortened. Null where there are none, or others beside them: signed and encrypted thoughts are never touched.
 */
export function* plainThoughts(
  source: Source,
  message: Message,
  { uncut, opaqueCharacters }: Pick<ParsedMessage, 'uncut' | 'opaqueCharacters'>,
): Steps<PlainThoughts | null> {
  if (uncut === '' || opaqueCharacters > 0) return null
  const parsed: unknown = JSON.parse(source.text(message.start, message.end))
  yield
  if (!isJsonObject(parsed)) return null
  const isStructured =
    structuredFields.some((field) => Array.isArray(parsed[field]) && parsed[field].length > 0) ||
    contentParts(parsed['content']).some(({ kind }) => kind === 'reasoning')
  if (isStructured) return null
  const spans: Span[] = []
  yield
  for (const { key, value } of entriesIn(source, message) ?? []) {
    const name: unknown = JSON.parse(source.text(key.start, key.end))
    if (typeof name !== 'string' || !plainFields.has(name)) continue
    const thoughts = parsed[name]
    // Servers write the same thoughts in several fields: all of them, or some are no plain text.
    if (thoughts === uncut) spans.push(value)
    else if (thoughts !== null && thoughts !== '') return null
  }
  return spans.length === 0 ? null : { text: uncut, spans }
}

// --- internal ---

const plainFields: ReadonlySet<string> = new Set(['reasoning_content', 'reasoning', 'thinking'])

const structuredFields = ['reasoning_details', 'thinking_blocks'] as const
