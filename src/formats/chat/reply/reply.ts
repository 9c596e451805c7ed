import { isJsonObject, type JsonObject, parseJsonText, stringOr } from '../../../json/json-value.ts'
import type { CallRules, Reply, ReplyCall } from '../../answer-contract.ts'
import { finishOf } from '../answers.ts'
import { thoughtFields } from '../thoughts.ts'

/** A reply, with the reason for its end as it is stated. */
export type ChatReply = Reply & { readonly finishReason: string | null }

/** The reply in a plain answer; null where it has not exactly one choice with a message. */
export function readReply(body: unknown): ChatReply | null {
  if (!isJsonObject(body) || !Array.isArray(body['choices']) || body['choices'].length !== 1) return null
  const [choice]: unknown[] = body['choices']
  if (!isJsonObject(choice) || !isJsonObject(choice['message'])) return null
  return replyOf(choice['message'], choice['finish_reason'], body['usage'])
}

/** The same of a message's parts. */
export function replyOf(message: JsonObject, finishReason: unknown, usage: unknown): ChatReply {
  const { content, tool_calls: calls } = message
  return {
    text: typeof content === 'string' ? content : isEmpty(content) ? '' : null,
    kept: Object.fromEntries(
      Object.entries(message).filter(([key, value]) => wantedBack.has(key) && !isEmpty(value)),
    ),
    calls: Array.isArray(calls) ? calls.filter(isJsonObject).map(callOf) : [],
    finish: finishOf(finishReason),
    finishReason: typeof finishReason === 'string' ? finishReason : null,
    hasRefusal: !isEmpty(message['refusal']),
    usage: isJsonObject(usage) ? usage : null,
  }
}

/** Whether a call's arguments end in the middle. Of a tool with free text nobody can say. */
export function isIncomplete(call: JsonObject): boolean {
  const called = call['function']
  if (!isJsonObject(called)) return false
  const given = called['arguments'] ?? ''
  return typeof given === 'string' && !isJsonObject(parseJsonText(given))
}

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

/** Gemini refuses a call without its signature. Whatever else a server adds to its answers others may refuse. */
const wantedBack: ReadonlySet<string> = new Set([
  'extra_content',
  ...thoughtFields.flatMap(({ name, isWantedBack }) => (isWantedBack ? [name] : [])),
])

function callOf(call: JsonObject): ReplyCall {
  const called = isJsonObject(call['function']) ? call['function'] : {}
  const given = called['arguments'] ?? ''
  return {
    id: stringOr(call['id'], ''),
    name: stringOr(called['name'], ''),
    argumentsText: typeof given === 'string' ? given : JSON.stringify(given),
    isIncomplete: isIncomplete(call),
    json: call,
  }
}

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0)
}

function nameOf(call: JsonObject): unknown {
  return isJsonObject(call['function']) ? call['function']['name'] : undefined
}
