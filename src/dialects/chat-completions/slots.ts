import type { EntrySpans } from '../../conversation/json-scan.ts'
import { isJsonObject, readKey } from '../../conversation/json-value.ts'
import type { ParsedMessage } from '../../conversation/message.ts'
import type { Source, Span, Steps } from '../../conversation/source.ts'
import { elementsIn, entriesIn } from '../../conversation/spans-in.ts'
import type { Slot } from '../contract.ts'
import { argumentsKeyOf, type Call } from './calls.ts'
import { contentParts, type ContentPart } from './content.ts'
import { textOf } from './describe.ts'
import { thoughtFields } from './thoughts.ts'

/** The slots of a message: the text of its content, thoughts that are plain text, and the arguments of its calls. */
export function* slotsOf(source: Source, message: Span, parsed: ParsedMessage): Steps<readonly Slot[]> {
  const fields = entriesIn(source, message) ?? []
  yield
  const slots: Slot[] = []
  const content = valueOf(source, fields, 'content')
  const first = content === null ? '' : firstOf(source, content)
  if (content !== null && (first === '"' || first === '[')) {
    const role = valueOf(source, fields, 'role')
    const isResult = role !== null && /^"(?:tool|function)"$/.test(source.latin1(role.start, role.end))
    slots.push({
      kind: isResult ? 'result' : 'text',
      text: parsed.text,
      isJson: false,
      spans: [content],
      writtenAs: first === '"' ? 'string' : 'part',
    })
  }
  if (parsed.uncut !== '' && parsed.opaqueCharacters === 0) {
    const thoughts = yield* plainThoughts(source, message, fields, parsed.uncut)
    if (thoughts !== null) slots.push(thoughts)
  }
  if (parsed.calls.length > 0) yield* addArguments(source, fields, parsed.calls, slots)
  return slots
}

/** A message with other texts in some of its slots. Everything else keeps its bytes: key order, unknown fields, numbers. */
export function* edited(
  source: Source,
  message: Span,
  texts: ReadonlyMap<Slot, string>,
  media: 'keep' | 'drop',
): Steps<string> {
  const edits: { readonly at: Span; readonly json: string }[] = []
  for (const [{ spans, writtenAs }, text] of texts) {
    for (const at of spans) {
      const json = writtenAs === 'json' ? text : JSON.stringify(text)
      edits.push({ at, json: writtenAs === 'part' ? yield* partsWith(source, at, json, media) : json })
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

/** A message with its last `kept` media, and a mark where the first of the others stood; null if nothing goes. */
export function* withoutMedia(
  source: Source,
  message: Span,
  kept: number,
  mark: string,
): Steps<{ readonly json: string; readonly text: string } | null> {
  const array = valueOf(source, entriesIn(source, message) ?? [], 'content')
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
      if (!isMarked) left.push(JSON.stringify({ type: 'text', text: mark }))
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

// --- internal ---

/** Calls that are scanned between two pauses, in bytes: about a millisecond, where none of them is very long. */
const BYTES_PER_STEP = 65_536

/** Parts between two pauses: about a millisecond. */
const PARTS_PER_STEP = 1_024

/**
 * Thoughts that are plain text in fields of their own, as servers of open models write them. Null if there are none, or others
 * beside them: signed and encrypted thoughts are never touched.
 */
function* plainThoughts(
  source: Source,
  message: Span,
  fields: readonly EntrySpans[],
  uncut: string,
): Steps<Slot | null> {
  const parsed: unknown = JSON.parse(source.text(message.start, message.end))
  yield
  if (!isJsonObject(parsed) || contentParts(parsed['content']).some(({ kind }) => kind === 'reasoning'))
    return null
  const spans: Span[] = []
  for (const { name, isPlain } of thoughtFields) {
    const thoughts = parsed[name]
    if (!isPlain && Array.isArray(thoughts) && thoughts.length > 0) return null
    if (!isPlain) continue
    // Servers write the same thoughts in several fields: all of them, or some are no plain text.
    const value = thoughts === uncut ? valueOf(source, fields, name) : null
    if (value !== null) spans.push(value)
    else if (thoughts !== undefined && thoughts !== null && thoughts !== '') return null
  }
  return spans.length === 0
    ? null
    : { kind: 'thought', text: uncut, isJson: false, spans, writtenAs: 'string' }
}

function* addArguments(
  source: Source,
  fields: readonly EntrySpans[],
  calls: ParsedMessage['calls'],
  slots: Slot[],
): Steps<void> {
  const list = valueOf(source, fields, 'tool_calls')
  yield
  const listed = (list && elementsIn(source, list)) ?? []
  yield
  let bytes = 0
  for (const [position, { argumentsText }] of calls.entries()) {
    const call = listed[position]
    const slot =
      call === undefined
        ? argumentsSlot(source, valueOf(source, fields, 'function_call'), 'legacy', argumentsText)
        : yield* calledSlot(source, call, argumentsText)
    if (slot !== null) slots.push(slot)
    bytes += call === undefined ? 0 : call.end - call.start
    if (bytes < BYTES_PER_STEP) continue
    bytes = 0
    yield
  }
}

function* calledSlot(source: Source, call: Span, text: string): Steps<Slot | null> {
  const fields = entriesIn(source, call) ?? []
  if (call.end - call.start >= BYTES_PER_STEP) yield
  const custom = valueOf(source, fields, 'custom')
  return custom !== null && firstOf(source, custom) === '{'
    ? argumentsSlot(source, custom, 'custom', text)
    : argumentsSlot(source, valueOf(source, fields, 'function'), 'function', text)
}

function argumentsSlot(source: Source, called: Span | null, form: Call['form'], text: string): Slot | null {
  const span = called && valueOf(source, entriesIn(source, called) ?? [], argumentsKeyOf[form])
  if (span === null) return null
  const isString = firstOf(source, span) === '"'
  return {
    kind: 'arguments',
    text,
    // Some servers write the arguments of a function as they are, and not as a text.
    isJson: !isString || form !== 'custom',
    spans: [span],
    writtenAs: isString ? 'string' : 'json',
  }
}

/** The parts of a content with this text: thoughts before it, where their providers want them, and media behind it. */
function* partsWith(source: Source, array: Span, text: string, media: 'keep' | 'drop'): Steps<string> {
  const raw = yield* rawParts(source, array)
  const rawOf = (wanted: ContentPart['kind']): string[] =>
    raw.filter(({ kind }) => kind === wanted).map(({ json }) => json)
  const parts = [...rawOf('reasoning'), `{"type":"text","text":${text}}`]
  if (media === 'keep') parts.push(...rawOf('media'))
  return `[${parts.join(',')}]`
}

/** The parts of a content array as they are spelt. */
function* rawParts(
  source: Source,
  array: Span,
): Steps<readonly { readonly kind: ContentPart['kind']; readonly json: string }[]> {
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

function firstOf(source: Source, { start }: Span): string {
  return source.latin1(start, start + 1)
}

/** The last value under this key, as JSON.parse would take it. */
function valueOf(source: Source, fields: readonly EntrySpans[], key: string): Span | null {
  return fields.findLast((field) => readKey(source, field.key) === key)?.value ?? null
}
