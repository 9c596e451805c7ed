import {
  isJsonObject,
  type JsonObject,
  parseJsonText,
  stringOr,
  objectsOf,
} from '../../../json/json-value.ts'
import type { AnsweredCall, Reply, ReplyCall } from '../../answer-contract.ts'
import { partsAsCame } from '../../turns.ts'
import { isSigned } from '../block-kinds.ts'
import { isTextBlock, isThought } from './wire.ts'

/**
 * The messages, as JSON, by which a model goes on after its calls were answered: a model that thinks between its calls wants its
 * thoughts back.
 */
export function recallMessages(
  said: string,
  reply: Reply,
  answered: readonly AnsweredCall[],
): readonly string[] {
  const calls = new Map(answered.map(({ call }) => [call.json, writtenCall(call)]))
  const content = partsAsCame(said, reply, objectsOf(reply.kept['content']), calls) ?? [
    { type: 'text', text: said },
    ...calls.values(),
  ]
  const results = answered.map(({ call: { id }, answer }) => ({
    type: 'tool_result',
    tool_use_id: id,
    content: answer,
  }))
  return [
    { role: 'assistant', content: content.filter(isTaken) },
    { role: 'user', content: results },
  ].map((message) => JSON.stringify(message))
}

/**
 * Messages of either kind behind another prefix than the one that the server has bound their
 * thoughts to: without these.
 */
export function unboundMessages(messages: readonly string[]): readonly string[] {
  const unbound = messages.map((json) => {
    const message = parseJsonText(json)
    if (!isJsonObject(message) || !Array.isArray(message['content'])) return json
    const content = objectsOf(message['content'])
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

function writtenCall({ json, id, name, isIncomplete }: ReplyCall): JsonObject {
  const { input } = json
  return { ...json, type: 'tool_use', id, name, input: isJsonObject(input) && !isIncomplete ? input : {} }
}
