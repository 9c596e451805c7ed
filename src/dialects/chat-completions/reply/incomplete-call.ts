import { isJsonObject, parseJsonText, type JsonObject } from '../../../conversation/json-value.ts'

/** Whether a call's arguments end in the middle. Of a tool with free text nobody can say. */
export function isIncomplete(call: JsonObject): boolean {
  const called = call['function']
  if (!isJsonObject(called)) return false
  const given = called['arguments'] ?? ''
  return typeof given === 'string' && !isJsonObject(parseJsonText(given))
}
