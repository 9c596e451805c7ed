import { isJsonObject, type JsonObject, objectsOf, parseJsonText } from '../../../json/json-value.ts'
import type { AnsweredCall, Reply, ReplyCall } from '../../answer-contract.ts'
import { partsAsCame } from '../../turns.ts'
import { isBound } from '../item-kinds.ts'
import { unnamed } from '../describe.ts'
import { hasWholeArguments } from './wire.ts'

/** The items, as JSON, by which a model goes on after its calls were answered. */
export function recallItems(
  said: string,
  reply: Reply,
  answered: readonly AnsweredCall[],
): readonly string[] {
  const calls = new Map(answered.map(({ call }) => [call.json, writtenCall(call)]))
  const items = partsAsCame(said, reply, itemsToSend(reply), calls) ?? [
    // As a text and not in parts: some servers take those from an assistant only with the id that it gave.
    ...(said === '' ? [] : [{ type: 'message', role: 'assistant', content: said }]),
    // An id demands the thoughts that led to the item.
    ...[...calls.values()].map(({ id: _id, ...item }) => item),
  ]
  const results = answered.map(({ call: { id }, answer }) => ({
    type: 'function_call_output',
    call_id: id,
    output: answer,
  }))
  return [...items, ...results].map((item) => JSON.stringify(item))
}

/** Items of either kind behind another prefix than the one that the server has bound their thoughts to: without these. */
export function unboundItems(items: readonly string[]): readonly string[] {
  const unbound = items.filter((json) => {
    const item = parseJsonText(json)
    return !isJsonObject(item) || item['type'] !== 'reasoning' || !isBound(item)
  })
  return unbound.length === items.length ? items : unbound.map(unnamed)
}

// --- internal ---

/** A reply's items as its server takes them back; none if it does not. */
function itemsToSend({ kept }: Reply): readonly JsonObject[] {
  const items = objectsOf(kept['items'])
  return kept['isStored'] !== true && items.some(isLost) ? [] : items
}

/** Whether of some thoughts there is no more than an id, which a server that keeps nothing does not know. */
function isLost({ type, encrypted_content: encrypted, content }: JsonObject): boolean {
  const isThere =
    (typeof encrypted === 'string' && encrypted !== '') || (Array.isArray(content) && content.length > 0)
  return type === 'reasoning' && !isThere
}

function writtenCall({ json, id, name, argumentsText }: ReplyCall): JsonObject {
  const call = { ...json, type: 'function_call', call_id: id, name, arguments: argumentsText }
  // Servers read the arguments of past calls as JSON.
  return hasWholeArguments(call) ? call : { ...call, arguments: '{}' }
}
