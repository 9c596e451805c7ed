import { isJsonObject, stringifyJson, stringOr, type JsonObject } from '../../json/json-value.ts'
import type { ParsedMessage } from '../../conversation/message.ts'

/** A call in an assistant message: '' if its id, name or arguments are missing. */
export type Call = ParsedMessage['calls'][number] & {
  /** How it is written: with `arguments` in `function`, with `input` in `custom`, or as a `function_call`. */
  readonly form: 'function' | 'custom' | 'legacy'
}

/** The key of a call's arguments, by its form. */
export const argumentsKeyOf = {
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
