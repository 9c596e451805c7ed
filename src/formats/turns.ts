import type { JsonObject } from '../json/json-value.ts'
import type { AnsweredCall, Replies, Reply } from './answer-contract.ts'

/** The entries by which a model goes on with what it said, as a user asks it to: messages of either, with these fields. */
export function goOnWith(fields: JsonObject): Replies['goOn'] {
  return (said, asked) =>
    [
      { ...fields, role: 'assistant', content: said },
      { ...fields, role: 'user', content: asked },
    ].map((message) => JSON.stringify(message))
}

/** Answered calls with an id each: those without get one of ours, by how many calls of the reply were `answeredBefore`. */
export function withOwnIds(
  answered: readonly AnsweredCall[],
  answeredBefore: number,
): readonly AnsweredCall[] {
  return answered.map(({ call, answer }, position) => ({
    call: call.id === '' ? { ...call, id: ownId(answeredBefore + position) } : call,
    answer,
  }))
}

/**
 * The parts of a reply as its server takes them back, with each call as it is `written`; null if they cannot go back as they
 * came. A server has bound thoughts to all that stood before them, and that is what stands there. Not so if more was `said`
 * than they say: then a part of it came from an answer before, in which the reply was cut, and the thoughts are bound to a
 * request to go on that is not there any more.
 */
export function partsAsCame(
  said: string,
  { text }: Reply,
  parts: readonly JsonObject[],
  written: ReadonlyMap<JsonObject, JsonObject>,
): readonly JsonObject[] | null {
  const isAll = said === (text ?? '') && [...written.keys()].every((call) => parts.includes(call))
  return isAll ? parts.map((part) => written.get(part) ?? part) : null
}

// --- internal ---

/** Mistral wants nine letters and digits. */
function ownId(number: number): string {
  return `recall${String(number).padStart(3, '0')}`
}
