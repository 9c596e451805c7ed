import { isJsonObject, stringifyJson, stringOr } from './json-value.ts'
import type { JsonObject } from './json-value.ts'
import type { ParsedMessage } from './message.ts'

/** A call in an assistant message: '' where its id, name or arguments are missing. */
export type Call = ParsedMessage['calls'][number]

/**
 * The calls of a parsed message in their order; only an assistant makes calls. A legacy `function_call` is
 * one call without an id. Null where arguments that are no string are nested too deep to be written.
 */
export function readCalls(message: JsonObject): readonly Call[] | null {
  if (message['role'] !== 'assistant') return []
  const list = message['tool_calls']
  if (Array.isArray(list) && list.length > 0) return allOrNull(list.map(readCall))
  const legacy = message['function_call']
  return isJsonObject(legacy) ? allOrNull([namedCall('', legacy, 'arguments')]) : []
}

// --- internal ---

function readCall(call: unknown): Call | null {
  if (!isJsonObject(call)) return { id: '', name: '', argumentsText: '' }
  const id = stringOr(call['id'], '')
  if (isJsonObject(call['custom'])) return namedCall(id, call['custom'], 'input')
  return namedCall(id, isJsonObject(call['function']) ? call['function'] : {}, 'arguments')
}

function namedCall(id: string, called: JsonObject, argumentsKey: 'arguments' | 'input'): Call | null {
  const given = called[argumentsKey] ?? ''
  const argumentsText = typeof given === 'string' ? given : stringifyJson(given)
  return argumentsText === null ? null : { id, name: stringOr(called['name'], ''), argumentsText }
}

function allOrNull(calls: readonly (Call | null)[]): readonly Call[] | null {
  const read = calls.filter((call) => call !== null)
  return read.length === calls.length ? read : null
}
