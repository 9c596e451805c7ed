import { isJsonObject, stringOr, type JsonObject } from '../../../conversation/json-value.ts'
import type { CallRules, PlainReply, Reply, Seam } from '../../answer-contract.ts'
import { responseUsage } from '../read-answer.ts'
import { addUsage } from '../../usage-sum.ts'
import { createItemGate, type Gated } from './item-gate.ts'
import { dropsCutCall, responseIdentity, joinedResponse } from './joined-response.ts'
import { isMessage, isTextPart, joinedParts, outputOf, messageParts, outputText } from './output.ts'
import { createOwnIds } from './own-ids.ts'
import { cutCallOf, readResponseReply, responseReply } from './reply.ts'

export function createPlainResponse(rules: CallRules): PlainReply {
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

// --- internal ---

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
