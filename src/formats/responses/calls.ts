import { stringifyJson, stringOr, type JsonObject } from '../../json/json-value.ts'
import type { ParsedMessage } from '../../conversation/message.ts'

/** Where the arguments of a call stand, by the type of its item, and what it is called if it has no name. */
type CallForm = { readonly argumentsKey: string; readonly name: string }

/** The forms of calls that a client answers. */
export const callForms: Readonly<Record<string, CallForm>> = {
  function_call: { argumentsKey: 'arguments', name: '' },
  custom_tool_call: { argumentsKey: 'input', name: '' },
  local_shell_call: { argumentsKey: 'action', name: 'local_shell' },
  shell_call: { argumentsKey: 'action', name: 'shell' },
  apply_patch_call: { argumentsKey: 'operation', name: 'apply_patch' },
  computer_call: { argumentsKey: 'action', name: 'computer' },
  tool_search_call: { argumentsKey: 'arguments', name: 'tool_search' },
  mcp_approval_request: { argumentsKey: 'arguments', name: '' },
}

/** The call of a parsed item; null if its arguments are nested too deep to be written. */
export function readCall(item: JsonObject): ParsedMessage['calls'][number] | null {
  const { argumentsKey, name } = callForms[stringOr(item['type'], '')] ?? {
    argumentsKey: 'arguments',
    name: '',
  }
  const given = item[argumentsKey] ?? item['actions'] ?? ''
  const argumentsText = typeof given === 'string' ? given : stringifyJson(given)
  if (argumentsText === null) return null
  return { id: callIdOf(item), name: stringOr(item['name'], name), argumentsText }
}

/** The id by which a call and its result find each other; '' if it has none. */
export function callIdOf(item: JsonObject): string {
  return stringOr(item['call_id'], stringOr(item['id'], ''))
}

/** The id of the call that a result answers. */
export function answeredIdOf(item: JsonObject): string {
  return stringOr(item['approval_request_id'], callIdOf(item))
}
