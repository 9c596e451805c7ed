import { isJsonObject, type JsonObject, parseJsonText, stringOr } from '../../../json/json-value.ts'
import type { CallRules, Reply, ReplyCall } from '../../answer-contract.ts'
import { callIdOf, readCall } from '../item-kinds.ts'
import { isCall, readResponse, responseFinish } from '../read-answer.ts'
import { isMessage, messageParts, outputOf, outputText } from './output.ts'
import { addUsage } from '../../usage-sum.ts'

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

/** Whose response it is: that of the first answer. */
export function responseIdentity(response: JsonObject): JsonObject {
  return Object.fromEntries(
    ['id', 'created_at'].flatMap((key) => (key in response ? [[key, response[key]]] : [])),
  )
}

/** The last answer's response as that of all answers, with this output. */
export function joinedResponse(
  last: JsonObject,
  { identity, usage: usageBefore }: Before,
  output: readonly JsonObject[],
  drops: boolean,
): JsonObject {
  const { usage } = last
  return {
    ...last,
    ...identity,
    ...(drops ? { status: 'completed', incomplete_details: null } : {}),
    output,
    // OpenAI's own libraries add it, and some servers do.
    ...('output_text' in last ? { output_text: outputText(output, '') } : {}),
    ...(isJsonObject(usage)
      ? { usage: addUsage(usageBefore, usage) }
      : usageBefore === null
        ? {}
        : { usage: usageBefore }),
  }
}

/**
 * Whether a call that was cut is left out: if others are there, which a client can only make beside none that is not whole. The
 * response is complete then. Not so if it would end in the thoughts that led to the call: no server takes such a response back.
 */
export function dropsCutCall(items: readonly JsonObject[], response: JsonObject, rules: CallRules): boolean {
  const cut = cutCallOf(items)
  if (
    !rules.continues ||
    responseFinish(response, true) !== 'length' ||
    cut === null ||
    isOurCall(cut, rules)
  )
    return false
  const others = items.filter((item) => item !== cut && !isOurCall(item, rules))
  return others.some(isCall) && others.at(-1)?.['type'] !== 'reasoning'
}

/** An item of an answer's output. `shown`: the client gets to see it. */
export type Gated = {
  readonly json: JsonObject
  fate: 'waiting' | 'shown' | 'hidden'
  /** Whether it was made behind something that the client does not know. */
  isForeign: boolean
}

/**
 * Decides which items of one answer the client gets to see.
 *
 * Calls of Foldgate's tool are never shown. Thoughts belong to what follows them, and wait for it if it may be such a call: they
 * are shown with something that the client sees, and are hidden if they led to nothing else than such a call.
 *
 * A server binds its thoughts to all that was sent before them, and the client will send back what it got. Thoughts of an answer
 * that went on behind a recall or a cut, or that stand behind a hidden call, were made behind something that the client will
 * not send: they are hidden, too. The items that follow them are foreign: under the id that the server gave they would demand
 * these thoughts.
 */
export function createItemGate(rules: CallRules, isFurther: boolean) {
  let isForeign = isFurther
  let waiting: Gated[] = []
  let isBehindOurs = false
  let hasOurs = false

  function settle(fate: Gated['fate']): void {
    for (const item of waiting) item.fate = fate
    waiting = []
  }

  function show(item: Gated): void {
    settle('shown')
    item.fate = 'shown'
    item.isForeign = isForeign
  }

  return {
    /** Takes the next item; decides on it, and maybe on those that waited for it. */
    take: (item: Gated) => {
      if (isOurCall(item.json, rules)) {
        item.fate = 'hidden'
        isBehindOurs = true
        hasOurs = true
      } else if (item.json['type'] !== 'reasoning') {
        show(item)
        isBehindOurs = false
      } else {
        if (hasOurs) {
          settle('hidden')
          isForeign = true
        }
        if (isForeign) item.fate = 'hidden'
        else if (rules.toolName === null) show(item)
        else waiting.push(item)
      }
    },
    /** No more items come: decides on those that waited. */
    end: () => {
      settle(isBehindOurs ? 'hidden' : 'shown')
    },
    hasOurs: () => hasOurs,
  }
}

/**
 * Ids for items that a client shall send back without the thoughts that led to them: an item under the id that the server
 * gave demands these. They are made of the response's id and a number, so that no two items of a conversation share one, and
 * begin as servers demand it, `msg_` for a message.
 */
export function createOwnIds(): (response: JsonObject, item: JsonObject) => string {
  let made = 0
  return (response, item) => {
    const id = stringOr(item['id'], '')
    const kind = /^[a-z]+(?=_)/.exec(id)?.[0] ?? (item['type'] === 'message' ? 'msg' : 'fc')
    const origin = stringOr(response['id'], '')
      .replace(/^resp_/, '')
      .replaceAll(/[^\w-]/g, '')
      .slice(-ORIGIN_CHARACTERS)
    made += 1
    return `${kind}_${origin}_${made}`
  }
}

// --- internal ---

/** Whether an item is a call of the tool that Foldgate answers. */
function isOurCall(item: JsonObject, { toolName }: CallRules): boolean {
  return isFunctionCall(item) && item['name'] === toolName
}

/** What the answers before the last one said of their response. */
type Before = { readonly identity: JsonObject; readonly usage: JsonObject | null }

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

/** OpenAI takes ids of at most 64 characters. Gateways write much into a response's id, and what tells it apart to its end. */
const ORIGIN_CHARACTERS = 40
