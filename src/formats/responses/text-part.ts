import type { Source, Span } from '../../json/source.ts'
import { parseJson } from '../../json/json-value.ts'
import type { TextPart } from '../content/content-parts.ts'
import { valueIn } from '../content/slot-edits.ts'

export const inputTextPart: TextPart = (text) => `{"type":"input_text","text":${text}}`

/** How a text stands among the parts of this item: a server refuses a reply whose text is spelt as an input, and the other way round. */
export function textPartOf(source: Source, item: Span): TextPart {
  const role = valueIn(source, item, 'role')
  return role !== null && parseJson(source, role) === 'assistant' ? outputTextPart : inputTextPart
}

// --- internal ---

const outputTextPart: TextPart = (text) => `{"type":"output_text","text":${text},"annotations":[]}`
