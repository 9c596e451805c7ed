import { isJsonObject, type JsonObject } from '../../../conversation/json-value.ts'
import type { CallRules } from '../../answer-contract.ts'
import { addUsage } from '../../usage-sum.ts'
import { responseFinish, isCall } from '../read-answer.ts'
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
