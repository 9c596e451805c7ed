import { isJsonObject, type JsonObject, stringOr } from '../../../conversation/json-value.ts'
import type { CallRules } from '../../answer-contract.ts'
import { addUsage } from '../../usage-sum.ts'
import { isCall, responseFinish } from '../read-answer.ts'
import { outputText } from './output.ts'
import { cutCallOf, isOurCall } from './reply.ts'

/** What the answers before the last one said of their response. */
export type Before = { readonly identity: JsonObject; readonly usage: JsonObject | null }

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
 * Calls of Foldgate's tool are never shown. Thoughts belong to what follows them, and wait for it if it may be such a call: they
 * are shown with something that the client sees, and are hidden if they led to nothing else than such a call.
 *
 * A server binds its thoughts to all that was sent before them, and the client will send back what it got. Thoughts of an answer
 * that went on behind a recall or a cut, or that stand behind a hidden call, were made behind something that the client will
 * not send: they are hidden, too. The items that follow them are foreign: under the id that the server gave they would demand
 * these thoughts.
 */
export function createItemGate<Item extends Gated>(rules: CallRules, isFurther: boolean): ItemGate<Item> {
  let isForeign = isFurther
  let waiting: Item[] = []
  let isBehindOurs = false
  let hasOurs = false

  function settle(fate: Item['fate']): void {
    for (const item of waiting) item.fate = fate
    waiting = []
  }

  function show(item: Item): void {
    settle('shown')
    item.fate = 'shown'
    item.isForeign = isForeign
  }

  return {
    take: (item) => {
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

/** Decides which items of one answer the client gets to see. */
type ItemGate<Item> = {
  /** Takes the next item; decides on it, and maybe on those that waited for it. */
  readonly take: (item: Item) => void
  /** No more items come: decides on those that waited. */
  readonly end: () => void
  readonly hasOurs: () => boolean
}

/** OpenAI takes ids of at most 64 characters. Gateways write much into a response's id, and what tells it apart to its end. */
const ORIGIN_CHARACTERS = 40
