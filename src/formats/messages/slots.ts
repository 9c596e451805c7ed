import { isJsonObject, parseJson } from '../../json/json-value.ts'
import type { ParsedMessage } from '../../conversation/message.ts'
import type { Source, Span, Pausable } from '../../json/source.ts'
import { entriesIn } from '../../json/json-scan.ts'
import { textPart } from '../content/content-parts.ts'
import {
  argumentSlots,
  contentSlots,
  edited,
  firstOf,
  foundSlots,
  stringSlots,
  valueIn,
  valueOf,
  withoutMedia,
} from '../content/slots.ts'
import type { Slot } from '../contract.ts'
import { blockKindOf, foundTextKeys, isSigned } from './block-kinds.ts'
import { saysContent } from './describe.ts'

/**
 * The slots of a block or message: its text, the result that it brings, the input of its call, thoughts that nobody has signed,
 * and what the server found. What is encrypted stays whole.
 */
export function* blockSlots(source: Source, entry: Span, parsed: ParsedMessage): Pausable<readonly Slot[]> {
  const value = parseJson(source, entry)
  yield
  if (!isJsonObject(value)) return []
  const fields = entriesIn(source, entry) ?? []
  yield
  const at = (key: string): Span | null => valueOf(source, fields, key)
  const isMessage = 'role' in value
  const kind = isMessage ? 'said' : blockKindOf(value, 'assistant')
  const content = at('content')
  if (kind === 'thought') return isSigned(value) ? [] : stringSlots('thought', source, at('thinking'))
  if (kind === 'call') return argumentSlots(source, at('input'), parsed.calls[0]?.argumentsText ?? '', true)
  if (kind === 'done') {
    const isText = content !== null && firstOf(source, content) === '"'
    return yield* foundSlots(source, isText ? [content] : [], isText ? [] : [content], foundTextKeys)
  }
  if (!saysContent(kind, value)) return []
  if (isMessage || kind === 'result')
    return contentSlots(kind === 'result' ? 'result' : 'text', source, content, parsed.text)
  const text = stringSlots('text', source, at('text'))
  if (text.length > 0 || value['type'] === 'text') return text
  // What a user shows beside results is a block by itself: there is a place for words in its stead.
  return [{ kind: 'text', text: '', isJson: false, spans: [entry], writtenAs: 'part' }]
}

/** An entry with other texts in some of its slots; everything else keeps its bytes. */
export function* editedBlock(
  source: Source,
  entry: Span,
  texts: ReadonlyMap<Slot, string>,
  mediaKept: number,
): Pausable<string> {
  for (const [{ spans, writtenAs }, text] of texts)
    if (writtenAs === 'part' && spans[0]?.start === entry.start) return textPart(JSON.stringify(text))
  return yield* edited(source, entry, texts, mediaKept, textPart)
}

/** An entry with its last `kept` media, and a mark where the first of the others stood; null if nothing goes. */
export function* withoutBlockMedia(
  source: Source,
  entry: Span,
  kept: number,
  mark: string,
): Pausable<{ readonly json: string; readonly text: string } | null> {
  const type = valueIn(source, entry, 'type')
  const isShown =
    valueIn(source, entry, 'role') === null && type !== null && parseJson(source, type) !== 'tool_result'
  if (isShown) return kept > 0 ? null : { json: textPart(JSON.stringify(mark)), text: mark }
  return yield* withoutMedia(source, entry, valueIn(source, entry, 'content'), kept, mark, textPart)
}
