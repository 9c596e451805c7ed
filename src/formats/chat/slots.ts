import type { EntrySpans } from '../../json/json-scan.ts'
import { isJsonObject } from '../../json/json-value.ts'
import type { ParsedMessage } from '../../conversation/message.ts'
import type { Source, Span, Steps } from '../../json/source.ts'
import { elementsIn, entriesIn } from '../../json/spans-in.ts'
import type { Slot } from '../contract.ts'
import { argumentsKeyOf, type Call } from './calls.ts'
import { contentParts } from '../content/content-parts.ts'
import { firstOf, valueOf } from '../content/slot-edits.ts'
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

// --- internal ---

/** Calls that are scanned between two pauses, in bytes: about a millisecond, where none of them is very long. */
const BYTES_PER_STEP = 65_536

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
