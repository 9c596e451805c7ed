import type { EntrySpans } from '../../conversation/json-scan.ts'
import { isJsonObject, readKey, stringifyJson, stringOr } from '../../conversation/json-value.ts'
import type { JsonObject } from '../../conversation/json-value.ts'
import type { ParsedMessage } from '../../conversation/message.ts'
import type { Source, Span, Steps } from '../../conversation/source.ts'
import { elementsIn, entriesIn } from '../../conversation/spans-in.ts'

/** A call in an assistant message: '' where its id, name or arguments are missing. */
export type Call = ParsedMessage['calls'][number]

/**
 * Where a call's arguments stand and what they are: JSON inside a string, a string of free text, or a JSON
 * value that is no string, as some servers write them.
 */
export type ArgumentsSpan = Span & { readonly kind: 'encoded' | 'text' | 'value' }

/**
 * The calls of a parsed message in their order; only an assistant makes calls. A legacy `function_call` is
 * one call without an id. Null where arguments that are no string are nested too deep to be written.
 */
export function readCalls(message: JsonObject): readonly Call[] | null {
  if (message['role'] !== 'assistant') return []
  const list = message['tool_calls']
  if (Array.isArray(list) && list.length > 0) return allOrNull(list.map(readCall))
  const legacy = message['function_call']
  return isJsonObject(legacy) ? allOrNull([namedCall('', legacy, 'legacy')]) : []
}

/** Where the arguments of these calls stand in the message that they were read from; null where a call has none. */
export function* argumentSpans(
  source: Source,
  message: Span,
  calls: readonly Call[],
): Steps<readonly (ArgumentsSpan | null)[]> {
  if (calls.length === 0) return []
  const fields = entriesOf(source, message)
  const list = valueOf(source, fields, 'tool_calls')
  yield
  const listed = (list && elementsIn(source, list)) ?? []
  yield
  const legacy = valueOf(source, fields, 'function_call')
  const spans: (ArgumentsSpan | null)[] = []
  let bytes = 0
  for (const [position, { form }] of calls.entries()) {
    const call = form === 'legacy' ? undefined : listed[position]
    const called = call === undefined ? null : valueOf(source, entriesOf(source, call), form)
    bytes += call === undefined ? 0 : call.end - call.start
    if (bytes >= BYTES_PER_STEP) {
      bytes = 0
      yield
    }
    spans.push(argumentsIn(source, form === 'legacy' ? legacy : called, form))
  }
  return spans
}

// --- internal ---

/** Calls that are scanned between two pauses: about a millisecond, where none of them is very long. */
const BYTES_PER_STEP = 65_536

type Form = Call['form']

const argumentsKeyOf = {
  function: 'arguments',
  custom: 'input',
  legacy: 'arguments',
} as const satisfies Record<Form, string>

function readCall(call: unknown): Call | null {
  if (!isJsonObject(call)) return namedCall('', {}, 'function')
  const id = stringOr(call['id'], '')
  if (isJsonObject(call['custom'])) return namedCall(id, call['custom'], 'custom')
  return namedCall(id, isJsonObject(call['function']) ? call['function'] : {}, 'function')
}

function namedCall(id: string, called: JsonObject, form: Form): Call | null {
  const given = called[argumentsKeyOf[form]] ?? ''
  const argumentsText = typeof given === 'string' ? given : stringifyJson(given)
  return argumentsText === null ? null : { id, name: stringOr(called['name'], ''), argumentsText, form }
}

function allOrNull(calls: readonly (Call | null)[]): readonly Call[] | null {
  const read = calls.filter((call) => call !== null)
  return read.length === calls.length ? read : null
}

function argumentsIn(source: Source, called: Span | null, form: Form): ArgumentsSpan | null {
  const span = called && valueOf(source, entriesOf(source, called), argumentsKeyOf[form])
  if (span === null) return null
  const isString = source.latin1(span.start, span.start + 1) === '"'
  return { ...span, kind: isString ? (form === 'custom' ? 'text' : 'encoded') : 'value' }
}

function entriesOf(source: Source, value: Span): readonly EntrySpans[] {
  return entriesIn(source, value) ?? []
}

/** The last value under this key, as JSON.parse would take it. */
function valueOf(source: Source, entries: readonly EntrySpans[], key: string): Span | null {
  return entries.findLast((entry) => readKey(source, entry.key) === key)?.value ?? null
}
