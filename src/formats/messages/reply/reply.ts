import { isJsonObject, type JsonObject, stringifyJson, stringOr } from '../../../json/json-value.ts'
import type { CallRules, Reply, ReplyCall } from '../../answer-contract.ts'
import { messageFinish, readMessageAnswer } from '../read-answer.ts'
import { contentOf, contentText, isThought, isToolUse } from './blocks.ts'

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

/**
 * Whether a call of the client's in whose middle an answer was cut is left out: if others are there, which a client can only
 * make beside none that is not whole.
 */
export function dropsCutToolUse({ clients }: CallCounts, isCut: boolean, { continues }: CallRules): boolean {
  return continues && isCut && clients > 1
}

/** Why a reply ends, as the client is told: of calls that it does not see nothing is said. */
export function shownStopReason({ ours, clients }: CallCounts, reason: unknown, drops: boolean): unknown {
  if (drops) return 'tool_use'
  return ours > 0 && clients === 0 && reason === 'tool_use' ? 'end_turn' : reason
}

/**
 * Decides which blocks of one answer the client gets to see.
 *
 * Calls of Foldgate's tool are never shown. A server binds thoughts to all that was sent before them, and the client will send
 * back what it got: thoughts of an answer that went on behind a recall or a cut, or that stand behind a hidden call, were made
 * behind something that the client will not send, and are hidden, too. Those before it are shown whatever they led to: what
 * stands before them stays, and some models want a turn that calls tools to begin with thoughts.
 */
export function createBlockGate(rules: CallRules, isFurther: boolean) {
  let [ours, clients] = [0, 0]
  return {
    /** Takes the next block, as it begins; whether it is shown. */
    take: (block: JsonObject) => {
      if (isOurToolUse(block, rules)) {
        ours += 1
        return false
      }
      if (isToolUse(block)) clients += 1
      return !(isThought(block) && (isFurther || ours > 0))
    },
    /** The calls among those that were taken. */
    counts: () => ({ ours, clients }),
  }
}

// --- internal ---

/** Whether a block is a call of the tool that Foldgate answers. */
function isOurToolUse(block: JsonObject, { toolName }: CallRules): boolean {
  return isToolUse(block) && block['name'] === toolName
}

/** How many calls are in an answer, of Foldgate's tool and of the client's. */
type CallCounts = { readonly ours: number; readonly clients: number }

function writtenInput({ input }: JsonObject): string {
  return stringifyJson(input ?? {}) ?? '{}'
}
