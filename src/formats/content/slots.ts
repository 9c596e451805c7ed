import { elementsIn, entriesIn, type EntrySpans } from '../../json/json-scan.ts'
import { parseJson, readKey } from '../../json/json-value.ts'
import type { Source, Span, Pausable } from '../../json/source.ts'
import type { Slot } from '../contract.ts'
import { type ContentPart, contentParts, textOf, type TextPart } from './content-parts.ts'

/**
 * An entry with other texts in some of its slots, and with the last so many media where its text is one part of several.
 * Everything else keeps its bytes: key order, unknown fields, numbers.
 */
export function* edited(
  source: Source,
  message: Span,
  texts: ReadonlyMap<Slot, string>,
  mediaKept: number,
  textPart: TextPart,
): Pausable<string> {
  const edits: { readonly at: Span; readonly json: string }[] = []
  for (const [{ spans, writtenAs }, text] of texts) {
    for (const at of spans) {
      const json = writtenAs === 'json' ? text : JSON.stringify(text)
      edits.push({
        at,
        json: writtenAs === 'part' ? yield* partsWith(source, at, textPart(json), mediaKept) : json,
      })
    }
  }
  yield
  let written = ''
  let from = message.start
  for (const { at, json } of edits.sort((one, other) => one.at.start - other.at.start)) {
    written += source.text(from, at.start) + json
    from = at.end
  }
  return written + source.text(from, message.end)
}

/** An entry whose parts stand at `array` with its last `kept` media, and a mark where the first of the others stood; null if nothing goes. */
export function* withoutMedia(
  source: Source,
  message: Span,
  array: Span | null,
  kept: number,
  mark: string,
  textPart: TextPart,
): Pausable<{ readonly json: string; readonly text: string } | null> {
  if (array === null || firstOf(source, array) !== '[') return null
  const parts = yield* rawParts(source, array)
  let dropped = parts.filter(({ kind }) => kind === 'media').length - kept
  if (dropped <= 0) return null
  const left: string[] = []
  let isMarked = false
  for (const { kind, json } of parts) {
    if (kind !== 'media' || dropped <= 0) left.push(json)
    else {
      dropped -= 1
      if (!isMarked) left.push(textPart(JSON.stringify(mark)))
      isMarked = true
    }
  }
  const json = `[${left.join(',')}]`
  yield
  return {
    json: source.text(message.start, array.start) + json + source.text(array.end, message.end),
    text: textOf(JSON.parse(json)),
  }
}

/** A content, said as this text, as a slot; none if it is neither a text nor parts. */
export function contentSlots(
  kind: 'text' | 'result',
  source: Source,
  at: Span | null,
  text: string,
): readonly Slot[] {
  const first = at === null ? '' : firstOf(source, at)
  if (at === null || (first !== '"' && first !== '[')) return []
  return [{ kind, text, isJson: false, spans: [at], writtenAs: first === '"' ? 'string' : 'part' }]
}

/** A string of so many bytes or more as a slot; none for anything else. */
export function stringSlots(
  kind: Slot['kind'],
  source: Source,
  at: Span | null,
  bytesMin = 0,
): readonly Slot[] {
  if (at === null || at.end - at.start < bytesMin || firstOf(source, at) !== '"') return []
  const text = parseJson(source, at)
  return typeof text === 'string' ? [{ kind, text, isJson: false, spans: [at], writtenAs: 'string' }] : []
}

/** The arguments of a call, said as this text, as a slot. Some servers write those that are JSON as they are, and not as a text. */
export function argumentSlots(
  source: Source,
  at: Span | null,
  text: string,
  isJson: boolean,
): readonly Slot[] {
  if (at === null) return []
  const isString = firstOf(source, at) === '"'
  const writtenAs = isString ? 'string' : 'json'
  return [{ kind: 'arguments', text, isJson: isJson || !isString, spans: [at], writtenAs }]
}

/**
 * What came of the server's own work, where it is long: these texts, and those that stand in `lists` under `keys`. It is nobody's
 * words, so that it is cut with what is only thought.
 */
export function* foundSlots(
  source: Source,
  texts: readonly (Span | null)[],
  lists: readonly (Span | null)[],
  keys: Iterable<string>,
): Pausable<readonly Slot[]> {
  const found = [...texts]
  for (const list of lists) {
    if (list === null) continue
    for (const [place, part] of (elementsIn(source, list) ?? [list]).entries()) {
      if (place % FOUND_PER_STEP === FOUND_PER_STEP - 1) yield
      const fields = entriesIn(source, part) ?? []
      for (const key of keys) found.push(valueOf(source, fields, key))
    }
  }
  return found.flatMap((at) => stringSlots('thought', source, at, LONG_TEXT_BYTES))
}

/** Shorter ones are names and addresses, in bytes. */
export const LONG_TEXT_BYTES = 256

/** The first character of a value. */
export function firstOf(source: Source, { start }: Span): string {
  return source.latin1(start, start + 1)
}

/** The last value under this key, as JSON.parse would take it. */
export function valueOf(source: Source, fields: readonly EntrySpans[], key: string): Span | null {
  return fields.findLast((field) => readKey(source, field.key) === key)?.value ?? null
}

/** The same within the object at `object`. */
export function valueIn(source: Source, object: Span, key: string): Span | null {
  return valueOf(source, entriesIn(source, object) ?? [], key)
}

// --- internal ---

/** What the server found that is read between two pauses. */
const FOUND_PER_STEP = 256

/** Parts between two pauses: about a millisecond. */
const PARTS_PER_STEP = 1_024

/** The parts of a content with this one for its text: thoughts before it, where their providers want them, and the last media behind it. */
function* partsWith(source: Source, array: Span, textPart: string, mediaKept: number): Pausable<string> {
  const raw = yield* rawParts(source, array)
  const rawOf = (wanted: ContentPart['kind']): string[] =>
    raw.filter(({ kind }) => kind === wanted).map(({ json }) => json)
  const media = rawOf('media')
  const kept = media.slice(Math.max(0, media.length - mediaKept))
  return `[${[...rawOf('reasoning'), textPart, ...kept].join(',')}]`
}

/** The parts of a content array as they are spelt. */
function* rawParts(
  source: Source,
  array: Span,
): Pausable<readonly { readonly kind: ContentPart['kind']; readonly json: string }[]> {
  const spans = elementsIn(source, array) ?? []
  yield
  const parts = contentParts(JSON.parse(source.text(array.start, array.end)))
  const raw: { readonly kind: ContentPart['kind']; readonly json: string }[] = []
  for (const [position, { kind }] of parts.entries()) {
    const span = spans[position] ?? array
    raw.push({ kind, json: source.text(span.start, span.end) })
    if (position % PARTS_PER_STEP === PARTS_PER_STEP - 1) yield
  }
  return raw
}
