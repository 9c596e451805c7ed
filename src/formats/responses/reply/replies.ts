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
import { isDone } from './events.ts'
import { createResponseStream } from './reply-stream.ts'
import {
  createItemGate,
  createOwnIds,
  cutCallOf,
  dropsCutCall,
  type Gated,
  hasWholeArguments,
  joinedResponse,
  readResponseReply,
  responseIdentity,
  responseReply,
} from './reply.ts'
import { isJsonObject, type JsonObject, parseJsonText, stringOr } from '../../../json/json-value.ts'
import { responseUsage } from '../read-answer.ts'
import { addUsage } from '../../usage-sum.ts'
import { isMessage, isTextPart, joinedParts, messageParts, outputOf, outputText } from './output.ts'
import { isBound } from '../item-kinds.ts'
import { unnamed } from '../describe.ts'

/** Makes one response of several, and asks a model to go on. */
export const responsesReplies: Replies = {
  read: readResponseReply,
  plain: createPlainResponse,
  stream: createResponseStream,
  isDone,
  errorEvent,
  answeredCalls: recallItems,
  goOn: goOnItems,
  unbound: unboundItems,
  bindsThoughts: true,
}

/**
 * @internal exported for tests. The items, as JSON, by which a model goes on after its calls were answered. Those of its own go
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
function goOnItems(said: string, asked: string): readonly string[] {
  const ask = { type: 'message', role: 'user', content: asked }
  return [assistantSays(said), ask].map((item) => JSON.stringify(item))
}

/** Items of either kind behind another prefix than the one that the server has bound their thoughts to: without these. */
function unboundItems(items: readonly string[]): readonly string[] {
  const unbound = items.filter((json) => {
    const item = parseJsonText(json)
    return !isJsonObject(item) || item['type'] !== 'reasoning' || !isBound(item)
  })
  return unbound.length === items.length ? items : unbound.map(unnamed)
}

// --- internal ---

function createPlainResponse(rules: CallRules): PlainReply {
  const ownId = createOwnIds()
  let seam: Seam | null = null
  let latest: Latest | null = null
  /** What the client sees of the answers before the latest. */
  let shownBefore: readonly JsonObject[] = []
  /** Whether the last of it is a message that was cut. */
  let isOpen = false
  let identity: JsonObject | null = null
  let usageBefore: JsonObject | null = null

  /** What the client sees of an answer. If another follows, thoughts that led to nothing yet are none of it. */
  function shownOf({ body, items }: Latest, isLast: boolean, drops: boolean): readonly JsonObject[] {
    const cut = drops ? cutCallOf(items) : null
    const gate = createItemGate(rules, identity !== null)
    const gated = items.map((json): Gated => ({ json, fate: 'waiting', isForeign: false }))
    for (const item of gated) gate.take(item)
    if (isLast) gate.end()
    const shown = gated.filter(({ json, fate }) => fate === 'shown' && json !== cut)
    const whose = identity ?? responseIdentity(body)
    return shown.map(({ json, isForeign }, at) => {
      // A message that goes on keeps the id that it has.
      const goesOn = at === 0 && isOpen && isMessage(json)
      return isForeign && !goesOn ? { ...json, id: ownId(whose, json) } : json
    })
  }

  function joined(next: readonly JsonObject[], status: unknown): readonly JsonObject[] {
    return isOpen ? continued(shownBefore, next, status) : [...shownBefore, ...next]
  }

  function usage(): JsonObject | null {
    const last = latest?.reply.usage ?? null
    return last === null ? usageBefore : addUsage(usageBefore, last)
  }

  return {
    take: (body) => {
      latest = null
      if (readResponseReply(body) === null || !isJsonObject(body)) return null
      const came = outputOf(body)
      const items = seam === null ? came : joinedBy(seam, came)
      latest = { body, items, reply: responseReply(came, body, outputText(items)) }
      return latest.reply
    },
    goOn: (next) => {
      seam = next
      if (latest === null) return
      const { body, items, reply } = latest
      const shown = shownOf(latest, false, true)
      if (shown.length > 0) {
        shownBefore = joined(shown, 'completed')
        isOpen = rules.continues && reply.finish === 'length' && items.slice(-1).some(isMessage)
      }
      usageBefore = usage()
      identity ??= responseIdentity(body)
      latest = null
    },
    finish: () => {
      if (latest === null) return null
      const { body, items } = latest
      const drops = dropsCutCall(items, body, rules)
      const output = joined(shownOf(latest, true, drops), body['status'])
      if (identity === null && output.length === items.length) return null
      return joinedResponse(body, { identity: identity ?? {}, usage: usageBefore }, output, drops)
    },
    usage: () => responseUsage(usage()),
  }
}

/** An answer, with its texts as the client sees them. */
type Latest = { readonly body: JsonObject; readonly items: readonly JsonObject[]; readonly reply: Reply }

/** Items of which the last is a message that was cut, with those of the next answer, in which it may go on. */
function continued(
  items: readonly JsonObject[],
  [next, ...others]: readonly JsonObject[],
  status: unknown,
): readonly JsonObject[] {
  const [before, last = {}] = [items.slice(0, -1), items.at(-1)]
  if (next === undefined) return [...before, { ...last, status }]
  if (!isMessage(next)) return [...before, { ...last, status: 'completed' }, next, ...others]
  const content = joinedParts(messageParts(last), messageParts(next))
  return [...before, { ...last, ...next, id: last['id'], content }, ...others]
}

/** The items with their texts as the seam joins them to what was said before. */
function joinedBy(seam: Seam, items: readonly JsonObject[]): readonly JsonObject[] {
  let textsLeft = items.filter(isMessage).flatMap(messageParts).filter(isTextPart).length
  function joined(part: JsonObject): JsonObject {
    if (!isTextPart(part)) return part
    textsLeft -= 1
    const text = seam.feed(stringOr(part['text'], ''))
    return { ...part, text: textsLeft === 0 ? text + seam.end() : text }
  }
  return items.map((item) => (isMessage(item) ? { ...item, content: messageParts(item).map(joined) } : item))
}

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
