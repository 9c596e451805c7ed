import { elementsIn, entriesIn, type EntrySpans } from '../../json/json-scan.ts'
import { isJsonObject, type JsonObject, stringifyJson, stringOr } from '../../json/json-value.ts'
import type { ParsedMessage } from '../../conversation/message.ts'
import type { Source, Span, Pausable } from '../../json/source.ts'
import type { Slot } from '../contract.ts'
import { contentParts } from '../content/content-parts.ts'
import { argumentSlots, contentSlots, firstOf, valueIn, valueOf } from '../content/slots.ts'
import { thoughtFields } from './thoughts.ts'

/** The slots of a message: the text of its content, thoughts that are plain text, and the arguments of its calls. */
export function* slotsOf(source: Source, message: Span, parsed: ParsedMessage): Pausable<readonly Slot[]> {
  const fields = entriesIn(source, message) ?? []
  yield
  const role = valueOf(source, fields, 'role')
  const isResult = role !== null && /^"(?:tool|function)"$/.test(source.latin1(role.start, role.end))
  const content = valueOf(source, fields, 'content')
  const slots = [...contentSlots(isResult ? 'result' : 'text', source, content, parsed.text)]
  if (parsed.uncut !== '' && parsed.opaqueCharacters === 0) {
    const spans = yield* plainThoughts(source, message, fields, parsed.uncut)
    if (spans.length > 0)
      slots.push({ kind: 'thought', text: parsed.uncut, isJson: false, spans, writtenAs: 'string' })
  }
  if (parsed.calls.length === 0) return slots
  const list = valueOf(source, fields, 'tool_calls')
  const legacy = valueOf(source, fields, 'function_call')
  const listed = (list && elementsIn(source, list)) ?? []
  yield
  let bytes = 0
  for (const [position, { argumentsText }] of parsed.calls.entries()) {
    const call = listed[position]
    const { at, form } = call === undefined ? { at: legacy, form: 'legacy' as const } : calledIn(source, call)
    const callBytes = call === undefined ? 0 : call.end - call.start
    if (callBytes >= BYTES_PER_STEP) yield
    const given = at === null ? null : valueIn(source, at, argumentsKeyOf[form])
    slots.push(...argumentSlots(source, given, argumentsText, form !== 'custom'))
    bytes += callBytes
    if (bytes < BYTES_PER_STEP) continue
    bytes = 0
    yield
  }
  return slots
}

/** A call in an assistant message: '' if its id, name or arguments are missing. */
export type Call = ParsedMessage['calls'][number] & {
  /** How it is written: with `arguments` in `function`, with `input` in `custom`, or as a `function_call`. */
  readonly form: 'function' | 'custom' | 'legacy'
}

/** The key of a call's arguments, by its form. */
const argumentsKeyOf = {
  function: 'arguments',
  custom: 'input',
  legacy: 'arguments',
} as const satisfies Record<Call['form'], string>

/**
 * The calls of a parsed message in their order; only an assistant makes calls. A legacy `function_call` is
 * one call without an id. Null if arguments that are no string are nested too deep to be written.
 */
export function readCalls(message: JsonObject): readonly Call[] | null {
  if (message['role'] !== 'assistant') return NO_CALLS
  const list = message['tool_calls']
  const legacy = message['function_call']
  const calls =
    Array.isArray(list) && list.length > 0
      ? list.map(readCall)
      : isJsonObject(legacy)
        ? [namedCall('', legacy, 'legacy')]
        : NO_CALLS
  const read = calls.filter((call) => call !== null)
  return read.length === calls.length ? read : null
}

// --- internal ---

/** Calls that are scanned between two pauses, in bytes: about a millisecond, where none of them is very long. */
const BYTES_PER_STEP = 65_536

/**
 * Where thoughts that are plain text stand in fields of their own, as servers of open models write them. Nowhere if there are
 * others beside them: signed and encrypted thoughts are never touched.
 */
function* plainThoughts(
  source: Source,
  message: Span,
  fields: readonly EntrySpans[],
  uncut: string,
): Pausable<readonly Span[]> {
  const parsed: unknown = JSON.parse(source.text(message.start, message.end))
  yield
  if (!isJsonObject(parsed) || contentParts(parsed['content']).some(({ kind }) => kind === 'reasoning'))
    return []
  const spans: Span[] = []
  for (const { name, isPlain } of thoughtFields) {
    const thoughts = parsed[name]
    if (!isPlain && Array.isArray(thoughts) && thoughts.length > 0) return []
    if (!isPlain) continue
    // Servers write the same thoughts in several fields: all of them, or some are no plain text.
    const value = thoughts === uncut ? valueOf(source, fields, name) : null
    if (value !== null) spans.push(value)
    else if (thoughts !== undefined && thoughts !== null && thoughts !== '') return []
  }
  return spans
}

/** What a call calls, and in which form. */
function calledIn(source: Source, call: Span): { readonly at: Span | null; readonly form: Call['form'] } {
  const fields = entriesIn(source, call) ?? []
  const custom = valueOf(source, fields, 'custom')
  if (custom !== null && firstOf(source, custom) === '{') return { at: custom, form: 'custom' }
  return { at: valueOf(source, fields, 'function'), form: 'function' }
}

const NO_CALLS: readonly Call[] = []

function readCall(call: unknown): Call | null {
  if (!isJsonObject(call)) return namedCall('', {}, 'function')
  const id = stringOr(call['id'], '')
  if (isJsonObject(call['custom'])) return namedCall(id, call['custom'], 'custom')
  return namedCall(id, isJsonObject(call['function']) ? call['function'] : {}, 'function')
}

function namedCall(id: string, called: JsonObject, form: Call['form']): Call | null {
  const given = called[argumentsKeyOf[form]] ?? ''
  const argumentsText = typeof given === 'string' ? given : stringifyJson(given)
  return argumentsText === null ? null : { id, name: stringOr(called['name'], ''), argumentsText, form }
}
