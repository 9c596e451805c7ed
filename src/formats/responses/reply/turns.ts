import { isJsonObject, type JsonObject, parseJsonText } from '../../../json/json-value.ts'
import type { AnsweredCall, Reply, ReplyCall } from '../../answer-contract.ts'
import { isBound } from '../item-kinds.ts'
import { unnamed } from '../describe.ts'
import { hasWholeArguments } from './wire.ts'

/**
 * The items, as JSON, by which a model goes on after its calls were answered. Those of its own go
 * back as they came, thoughts and ids included: the server has bound its thoughts to all that stood before them, and that is
 * what stands there. Not so if more was said than they say: then a part of it came from an answer before, in which the reply
 * was cut, and the thoughts are bound to a request to go on that is not there any more. `round`: see `Replies`.
 */
export function recallItems(
  said: string,
  reply: Reply,
  answered: readonly AnsweredCall[],
  round: number,
): readonly string[] {
  const calls = answered.map(({ call, answer }, position) => {
    const id = call.id === '' ? `recall_${round}_${position}` : call.id
    const result = { type: 'function_call_output', call_id: id, output: answer }
    return { json: call.json, written: writtenCall(call, id), result }
  })
  const asCame = said === (reply.text ?? '') ? itemsToSend(reply) : []
  // An id demands the thoughts that led to the item.
  const items = calls.every(({ json }) => asCame.includes(json))
    ? asCame.map((item) => calls.find(({ json }) => json === item)?.written ?? item)
    : [
        ...(said === '' ? [] : [assistantSays(said)]),
        ...calls.map(({ written: { id: _id, ...item } }) => item),
      ]
  return [...items, ...calls.map(({ result }) => result)].map((item) => JSON.stringify(item))
}

/** The items by which a model goes on with what it `said`, as it is `asked` to. */
export function goOnItems(said: string, asked: string): readonly string[] {
  const ask = { type: 'message', role: 'user', content: asked }
  return [assistantSays(said), ask].map((item) => JSON.stringify(item))
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

/** As a text and not in parts: some servers take those from an assistant only with the id that it gave. */
function assistantSays(text: string): JsonObject {
  return { type: 'message', role: 'assistant', content: text }
}

/** A reply's items as its server takes them back; none if it does not. */
function itemsToSend({ kept }: Reply): readonly JsonObject[] {
  const items = (Array.isArray(kept['items']) ? (kept['items'] as unknown[]) : []).filter(isJsonObject)
  return kept['isStored'] !== true && items.some(isLost) ? [] : items
}

/** Whether of some thoughts there is no more than an id, which a server that keeps nothing does not know. */
function isLost({ type, encrypted_content: encrypted, content }: JsonObject): boolean {
  const isThere =
    (typeof encrypted === 'string' && encrypted !== '') || (Array.isArray(content) && content.length > 0)
  return type === 'reasoning' && !isThere
}

function writtenCall({ json, name, argumentsText }: ReplyCall, id: string): JsonObject {
  const call = { ...json, type: 'function_call', call_id: id, name, arguments: argumentsText }
  // Servers read the arguments of past calls as JSON.
  return hasWholeArguments(call) ? call : { ...call, arguments: '{}' }
}
