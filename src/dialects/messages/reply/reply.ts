import { isJsonObject, stringifyJson, stringOr, type JsonObject } from '../../../conversation/json-value.ts'
import type { CallRules, Reply, ReplyCall } from '../../answer-contract.ts'
import { messageFinish, readMessageAnswer } from '../read-answer.ts'
import { contentOf, contentText, isToolUse } from './blocks.ts'

/** The reply in a plain message; null if it is none. */
export function readMessageReply(body: unknown): Reply | null {
  if (!isJsonObject(body) || !Array.isArray(body['content'])) return null
  if (readMessageAnswer(body)?.isError !== false) return null
  const blocks = contentOf(body)
  return messageReply(blocks, body['stop_reason'], body['usage'], contentText(blocks))
}

/**
 * The same of its blocks, of why it ended, and of the text that the client gets of it. `argumentsOf`: the arguments of a call
 * as they were written.
 */
export function messageReply(
  blocks: readonly JsonObject[],
  stopReason: unknown,
  usage: unknown,
  text: string,
  argumentsOf: (call: JsonObject) => string = writtenInput,
): Reply {
  const finish = messageFinish(stopReason)
  // What was followed by another block was not cut.
  const cut = finish === 'length' ? blocks.at(-1) : undefined
  return {
    text,
    // The blocks as they came, for the answers to calls: they go back so, thoughts included, since they belong together.
    kept: { content: blocks },
    calls: blocks.filter(isToolUse).map((block): ReplyCall => {
      const [id, name] = [stringOr(block['id'], ''), stringOr(block['name'], '')]
      return { id, name, argumentsText: argumentsOf(block), isIncomplete: block === cut, json: block }
    }),
    finish,
    hasRefusal: finish === 'filtered',
    usage: isJsonObject(usage) ? usage : null,
  }
}

/** Whether a block is a call of the tool that Foldgate answers. */
export function isOurToolUse(block: JsonObject, { toolName }: CallRules): boolean {
  return isToolUse(block) && block['name'] === toolName
}

// --- internal ---

function writtenInput({ input }: JsonObject): string {
  return stringifyJson(input ?? {}) ?? '{}'
}
