import type {
  AnsweredCall,
  CallRules,
  PlainReply,
  Replies,
  Reply,
  ReplyCall,
  Seam,
} from '../../answer-contract.ts'
import { errorEvent } from '../../typed-events.ts'
import { isLastEvent } from './events.ts'
import { createMessageStream } from './reply-stream.ts'
import { createBlockGate, dropsCutToolUse, messageReply, readMessageReply, shownStopReason } from './reply.ts'
import { isJsonObject, type JsonObject, parseJsonText, stringOr } from '../../../json/json-value.ts'
import { sumUsage, totalUsage } from '../usage.ts'
import { contentOf, contentText, isTextBlock, isThought, joinedBlocks } from './blocks.ts'
import { isSigned } from '../block-kinds.ts'

/** Makes one message of several, and asks a model to go on. */
export const messagesReplies: Replies = {
  read: readMessageReply,
  plain: createPlainMessage,
  stream: createMessageStream,
  isDone: isLastEvent,
  errorEvent,
  answeredCalls: recallMessages,
  goOn: goOnMessages,
  unbound: unboundMessages,
  bindsThoughts: true,
}

/**
 * @internal exported for tests. The messages, as JSON, by which a model goes on after its calls were answered. The blocks of
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

/** @internal exported for tests. The messages by which a model goes on with what it `said`, as it is `asked` to. */
export function goOnMessages(said: string, asked: string): readonly string[] {
  return [
    JSON.stringify({ role: 'assistant', content: said }),
    JSON.stringify({ role: 'user', content: asked }),
  ]
}

/**
 * @internal exported for tests. Messages of either kind behind another prefix than the one that the server has bound their
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

function createPlainMessage(rules: CallRules): PlainReply {
  let seam: Seam | null = null
  let latest: Latest | null = null
  /** What the client sees of the answers before the latest. */
  let shownBefore: readonly JsonObject[] = []
  /** Whether the last of it is a text that was cut. */
  let isOpen = false
  let identity: JsonObject | null = null
  let usageBefore: JsonObject | null = null

  /**
   * What the client sees of an answer, and why it ended. A call that was cut is made again if another follows. No server takes
   * an empty text back.
   */
  function shownOf({ body, blocks, reply }: Latest, isLast: boolean) {
    const isFurther = identity !== null
    const gate = createBlockGate(rules, isFurther)
    const shown = blocks.filter((block) => {
      const isEmpty = isFurther && isTextBlock(block) && block['text'] === ''
      return gate.take(block) && !isEmpty
    })
    const cut = reply.calls.find(({ isIncomplete }) => isIncomplete)?.json
    const isCut = cut !== undefined && shown.at(-1) === cut
    const drops = dropsCutToolUse(gate.counts(), isCut, rules)
    return {
      shown: isCut && (drops || !isLast) ? shown.slice(0, -1) : shown,
      reason: shownStopReason(gate.counts(), body['stop_reason'], drops),
    }
  }

  function joined(next: readonly JsonObject[]): readonly JsonObject[] {
    return isOpen ? joinedBlocks(shownBefore, next) : [...shownBefore, ...next]
  }

  function usage(): JsonObject | null {
    return sumUsage(usageBefore, latest?.reply.usage ?? null)
  }

  return {
    take: (body) => {
      latest = null
      if (readMessageReply(body) === null || !isJsonObject(body)) return null
      const came = contentOf(body)
      const blocks = seam === null ? came : joinedBy(seam, came)
      latest = {
        body,
        blocks,
        reply: messageReply(came, body['stop_reason'], body['usage'], contentText(blocks)),
      }
      return latest.reply
    },
    goOn: (next) => {
      seam = next
      if (latest === null) return
      const { body, blocks, reply } = latest
      const { shown } = shownOf(latest, false)
      if (shown.length > 0) {
        shownBefore = joined(shown)
        const last = shown.at(-1)
        isOpen =
          rules.continues &&
          reply.finish === 'length' &&
          last !== undefined &&
          isTextBlock(last) &&
          last === blocks.at(-1)
      }
      usageBefore = usage()
      identity ??= identityOf(body)
      latest = null
    },
    finish: () => {
      if (latest === null) return null
      const { body, blocks } = latest
      const { shown, reason } = shownOf(latest, true)
      const content = joined(shown)
      if (identity === null && content.length === blocks.length) return null
      const total = usage()
      return {
        ...body,
        ...identity,
        content,
        stop_reason: reason,
        ...(total === null ? {} : { usage: total }),
      }
    },
    usage: () => totalUsage(usage()),
  }
}

/** An answer, with its texts as the client sees them. */
type Latest = { readonly body: JsonObject; readonly blocks: readonly JsonObject[]; readonly reply: Reply }

/** What a stream says at its beginning: whose message it is, and what was left out of the client's request. */
function identityOf(body: JsonObject): JsonObject {
  const keys = ['id', 'input_transformations'].filter((key) => key in body)
  return Object.fromEntries(keys.map((key) => [key, body[key]]))
}

/** The blocks with their texts as the seam joins them to what was said before. */
function joinedBy(seam: Seam, blocks: readonly JsonObject[]): readonly JsonObject[] {
  return blocks.map((block) =>
    isTextBlock(block) ? { ...block, text: seam.feed(stringOr(block['text'], '')) + seam.end() } : block,
  )
}

/** Servers answer with texts that are empty or blank, and take none back. */
function isTaken(block: JsonObject): boolean {
  return !isTextBlock(block) || stringOr(block['text'], '').trim() !== ''
}

function writtenCall({ json, name, isIncomplete }: ReplyCall, id: string): JsonObject {
  const { input } = json
  return { ...json, type: 'tool_use', id, name, input: isJsonObject(input) && !isIncomplete ? input : {} }
}
