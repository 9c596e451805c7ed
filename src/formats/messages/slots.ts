import { isJsonObject, parseJson } from '../../json/json-value.ts'
import type { ParsedMessage } from '../../conversation/message.ts'
import type { Source, Span, Steps } from '../../json/source.ts'
import { elementsIn, entriesIn } from '../../json/spans-in.ts'
import { edited, firstOf, valueIn, valueOf, withoutMedia } from '../content/slot-edits.ts'
import type { Slot } from '../contract.ts'
import { isSigned, blockKindOf } from './block-kinds.ts'
import { saysContent } from './describe.ts'
import { foundTextKeys } from './found.ts'
import { textPart } from '../content/text-part.ts'

/**
 * The slots of a block or message: its text, the result that it brings, the input of its call, thoughts that nobody has signed,
 * and what the server found.
 */
export function* blockSlots(source: Source, entry: Span, parsed: ParsedMessage): Steps<readonly Slot[]> {
  const value = parseJson(source, entry)
  yield
  if (!isJsonObject(value)) return []
  const fields = entriesIn(source, entry) ?? []
  yield
  const isMessage = 'role' in value
  const kind = isMessage ? 'said' : blockKindOf(value, 'assistant')
  const at = (key: string): Span | null => valueOf(source, fields, key)
  if (kind === 'thought') return isSigned(value) ? [] : stringSlots('thought', source, at('thinking'))
  if (kind === 'call') return inputSlots(at('input'), parsed)
  if (kind === 'done') return yield* foundSlots(source, at('content'))
  if (!saysContent(kind, value)) return []
  if (isMessage || kind === 'result')
    return contentSlots(kind === 'result' ? 'result' : 'text', source, at('content'), parsed.text)
  const text = stringSlots('text', source, at('text'))
  // What a user shows beside results is a block by itself: there is a place for words in its stead.
  return text.length > 0 || value['type'] === 'text' ? text : [{ ...textSlot, spans: [entry] }]
}

/** An entry with other texts in some of its slots; everything else keeps its bytes. */
export function* editedBlock(
  source: Source,
  entry: Span,
  texts: ReadonlyMap<Slot, string>,
  mediaKept: number,
): Steps<string> {
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
): Steps<{ readonly json: string; readonly text: string } | null> {
  const content = valueIn(source, entry, 'content')
  const type = valueIn(source, entry, 'type')
  const isShown =
    valueIn(source, entry, 'role') === null && type !== null && parseJson(source, type) !== 'tool_result'
  if (isShown) return kept > 0 ? null : { json: textPart(JSON.stringify(mark)), text: mark }
  return yield* withoutMedia(source, entry, content, kept, mark, textPart)
}

// --- internal ---

/** Texts shorter than this are names and addresses, in bytes. */
const LONG_TEXT_BYTES = 256

/** What the server found that is read between two pauses. */
const PARTS_PER_STEP = 256

const textSlot = { kind: 'text', text: '', isJson: false, writtenAs: 'part' } as const

function contentSlots(
  kind: 'text' | 'result',
  source: Source,
  content: Span | null,
  text: string,
): readonly Slot[] {
  if (content === null || !/^["[]$/.test(firstOf(source, content))) return []
  const writtenAs = firstOf(source, content) === '"' ? 'string' : 'part'
  return [{ kind, text, isJson: false, spans: [content], writtenAs }]
}

function stringSlots(kind: Slot['kind'], source: Source, at: Span | null): readonly Slot[] {
  const text: unknown = at === null ? null : parseJson(source, at)
  if (at === null || typeof text !== 'string') return []
  return [{ kind, text, isJson: false, spans: [at], writtenAs: 'string' }]
}

function inputSlots(at: Span | null, { calls: [call] }: ParsedMessage): readonly Slot[] {
  if (at === null || call === undefined) return []
  return [{ kind: 'arguments', text: call.argumentsText, isJson: true, spans: [at], writtenAs: 'json' }]
}

/**
 * What came of the server's own work, where it is long. It is nobody's words, so that it is cut with what is only thought. What
 * is encrypted stays whole.
 */
function* foundSlots(source: Source, content: Span | null): Steps<readonly Slot[]> {
  if (content === null) return []
  const texts = firstOf(source, content) === '"' ? [content] : []
  for (const [place, part] of (elementsIn(source, content) ?? [content]).entries()) {
    if (place % PARTS_PER_STEP === PARTS_PER_STEP - 1) yield
    const fields = entriesIn(source, part) ?? []
    for (const key of foundTextKeys) texts.push(valueOf(source, fields, key) ?? NOTHING)
  }
  return texts
    .filter(({ start, end }) => end - start >= LONG_TEXT_BYTES)
    .flatMap((at) => stringSlots('thought', source, at))
}

const NOTHING: Span = { start: 0, end: 0 }
