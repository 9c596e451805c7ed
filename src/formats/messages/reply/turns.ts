import { isJsonObject, type JsonObject, parseJsonText, stringOr } from '../../../json/json-value.ts'
import type { AnsweredCall, Reply, ReplyCall } from '../../answer-contract.ts'
import { isSigned } from '../block-kinds.ts'
import { contentOf, isTextBlock, isThought } from './blocks.ts'

/**
 * The messages, as JSON, by which a model goes on after its calls were answered. The blocks of
 * its own go back as they came, thoughts included: the server has bound these to all that stood before them, and that is what
 * stands there; and a model that thinks between its calls wants them. Not so if more was said than they say: then a part of it
 * came from an answer before, in which the reply was cut, and the thoughts are bound to a request to go on that is not there
 * any more. `round`: see `Replies`.
 */
export function recallMessages(
  said: string,
  reply: Reply,
  answered: readonly AnsweredCall[],
  round: number,
): readonly string[] {
  const calls = answered.map(({ call, answer }, position) => {
    const id = call.id === '' ? `recall_${round}_${position}` : call.id
    const result = { type: 'tool_result', tool_use_id: id, content: answer }
    return { json: call.json, written: writtenCall(call, id), result }
  })
  const writtenCalls = new Map(calls.map(({ json, written }) => [json, written]))
  const asCame = said === (reply.text ?? '') ? contentOf(reply.kept) : []
  const content = asCame.some((block) => writtenCalls.has(block))
    ? asCame.map((block) => writtenCalls.get(block) ?? block)
    : [{ type: 'text', text: said }, ...calls.map(({ written }) => written)]
  return [
    { role: 'assistant', content: content.filter(isTaken) },
    { role: 'user', content: calls.map(({ result }) => result) },
  ].map((message) => JSON.stringify(message))
}

/** The messages by which a model goes on with what it `said`, as it is `asked` to. */
export function goOnMessages(said: string, asked: string): readonly string[] {
  return [
    JSON.stringify({ role: 'assistant', content: said }),
    JSON.stringify({ role: 'user', content: asked }),
  ]
}

/**
 * Messages of either kind behind another prefix than the one that the server has bound their
 * thoughts to: without these.
 */
export function unboundMessages(messages: readonly string[]): readonly string[] {
  const unbound = messages.map((json) => {
    const message = parseJsonText(json)
    if (!isJsonObject(message) || !Array.isArray(message['content'])) return json
    const content = contentOf(message)
    const free = content.filter((block) => !(isThought(block) && isSigned(block)))
    return free.length === content.length ? json : JSON.stringify({ ...message, content: free })
  })
  return unbound.every((json, at) => json === messages[at]) ? messages : unbound
}

// --- internal ---

/** Servers answer with texts that are empty or blank, and take none back. */
function isTaken(block: JsonObject): boolean {
  return !isTextBlock(block) || stringOr(block['text'], '').trim() !== ''
}

function writtenCall({ json, name, isIncomplete }: ReplyCall, id: string): JsonObject {
  const { input } = json
  return { ...json, type: 'tool_use', id, name, input: isJsonObject(input) && !isIncomplete ? input : {} }
}
