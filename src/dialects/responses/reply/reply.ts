import { isJsonObject, parseJsonText, stringOr, type JsonObject } from '../../../conversation/json-value.ts'
import type { CallRules, Reply, ReplyCall } from '../../answer-contract.ts'
import { callIdOf, readCall } from '../calls.ts'
import { responseFinish, isCall, readResponse } from '../read-answer.ts'
import { isMessage, outputOf, messageParts, outputText } from './output.ts'

/** The reply in a plain response; null if it is none. */
export function readResponseReply(body: unknown): Reply | null {
  if (!isJsonObject(body) || !Array.isArray(body['output']) || body['object'] === 'response.compaction')
    return null
  if (readResponse(body)?.isError !== false) return null
  const items = outputOf(body)
  return responseReply(items, body, outputText(items))
}

/** The same of its items, of what else is said of the response, and of the text that the client gets of it. */
export function responseReply(items: readonly JsonObject[], response: JsonObject, text: string): Reply {
  const usage = response['usage']
  const cut = cutCallOf(items)
  return {
    text,
    // The items as they came, for the answers to calls: they go back so, calls included, since they belong together.
    kept: { items, isStored: response['store'] === true },
    calls: items.filter(isCall).map((item) => callOf(item, item === cut)),
    finish: responseFinish(response, items.some(isCall)),
    hasRefusal: items.some(
      (item) => isMessage(item) && messageParts(item).some((part) => part['type'] === 'refusal'),
    ),
    usage: isJsonObject(usage) ? usage : null,
  }
}

/** The call in whose middle an answer was cut, if it was: the last item, for what was followed by another was not cut. */
export function cutCallOf(items: readonly JsonObject[]): JsonObject | null {
  const last = items.at(-1)
  return last !== undefined && isFunctionCall(last) && !hasWholeArguments(last) ? last : null
}

/** Whether a call's arguments are whole. Of a tool with free text nobody can say. */
export function hasWholeArguments(call: JsonObject): boolean {
  return isJsonObject(parseJsonText(stringOr(call['arguments'], '')))
}

export function isFunctionCall(item: JsonObject): boolean {
  return item['type'] === 'function_call'
}

/** Whether an item is a call of the tool that Foldgate answers. */
export function isOurCall(item: JsonObject, { toolName }: CallRules): boolean {
  return isFunctionCall(item) && item['name'] === toolName
}

// --- internal ---

function callOf(item: JsonObject, isIncomplete: boolean): ReplyCall {
  const read = readCall(item) ?? { name: '', argumentsText: '' }
  return {
    id: callIdOf(item),
    name: read.name,
    argumentsText: read.argumentsText,
    isIncomplete,
    json: item,
  }
}
