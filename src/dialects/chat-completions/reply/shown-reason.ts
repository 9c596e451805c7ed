import { isJsonObject, type JsonObject } from '../../../conversation/json-value.ts'
import type { CallRules } from '../../answer-contract.ts'
import { isIncomplete } from './reply.ts'

/** Whether calls that were cut are left out: where others are complete, which a client can only make beside none that is not. */
export function dropsIncomplete(
  calls: readonly JsonObject[],
  finishReason: string | null,
  { continues, toolName }: CallRules,
): boolean {
  const clients = calls.filter((call) => nameOf(call) !== toolName)
  return (
    continues &&
    finishReason === 'length' &&
    clients.some(isIncomplete) &&
    clients.some((call) => !isIncomplete(call))
  )
}

/** Why a reply ends, as the client is told: of calls that it does not see nothing is said. */
export function shownReason(
  calls: readonly JsonObject[],
  finishReason: string | null,
  rules: CallRules,
): string | null {
  if (dropsIncomplete(calls, finishReason, rules)) return 'tool_calls'
  const areOurs = calls.length > 0 && calls.every((call) => nameOf(call) === rules.toolName)
  return areOurs && finishReason === 'tool_calls' ? 'stop' : finishReason
}

// --- internal ---

function nameOf(call: JsonObject): unknown {
  return isJsonObject(call['function']) ? call['function']['name'] : undefined
}
