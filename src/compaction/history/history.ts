import type { Message } from '../../conversation/message.ts'
import type { Dialect } from '../../formats/contract.ts'
import type { Digest, Source, Pausable } from '../../json/source.ts'
import { remembering } from '../../caches.ts'
import type { Growth, Structure } from '../../conversation/structure.ts'

/** Counts tokens of a text exactly, in one encoding. */
export type CountTokens = (text: string) => number

/** The same of a text of any length, with pauses. */
export type CountSteps = (text: string) => Pausable<number>

/** What a user or the operator asked to be kept word for word in one message. */
export type KeptPassages = {
  readonly texts: readonly string[]
  /** What all passages up to here take, equal ones once, in tokens. */
  readonly tokensUntil: number
}

/** A conversation as compaction works on it: its bytes, its messages, their order and their sizes. */
export type History = {
  readonly dialect: Dialect
  readonly source: Source
  readonly messages: readonly Message[]
  readonly structure: Structure
  /** The conversation that it was found to go on from; null where none was. */
  readonly grewFrom: Growth | null
  /** Whether the thoughts of the newest reply stay at a compaction, since its server demands them; left out if not. */
  readonly keepsNewestThoughts?: boolean
  /** What of the past before the server's own compaction is left out, as what follows needs its room; it weighs nothing. */
  readonly omitted: ReadonlySet<number>
  /** Tokens of each message as the client sent it, framing included. */
  readonly sizes: readonly number[]
  /** What each of a message's media weighs within its size, in tokens, in their order. */
  readonly mediaSizes: (index: number) => readonly number[]
  /** What thoughts in a message weigh within its size that are bound to what stood before them, if it holds more than those. */
  readonly boundTokens: (index: number) => number
  /** Which results only refer to earlier ones. */
  readonly references: References
  /** What users and the operator asked to be kept word for word, by the messages in which they did. */
  readonly kept: ReadonlyMap<number, KeptPassages>
  /** For what Foldgate writes itself and is short. */
  readonly count: CountTokens
  /** For whatever a client may have made long. */
  readonly countSteps: CountSteps
  readonly digest: Digest
  /** Scope, encoding and model: what is remembered of a message under one is not used under another. */
  readonly memorySpace: string
}

/** Tokens of message `index` that anybody can read: of thoughts that are bound to a server none. */
export function readableTokens(
  { messages, sizes, boundTokens }: Pick<History, 'messages' | 'sizes' | 'boundTokens'>,
  index: number,
): number {
  const bound = messages[index]?.facts.bound
  if (bound === 'whole') return 0
  const size = sizes[index] ?? 0
  return bound === 'part' ? Math.max(0, size - boundTokens(index)) : size
}

/** Whether a message holds thoughts that are bound to what stood before them, or is nothing else. */
export function hasBoundThoughts({ facts }: Message): boolean {
  return facts.bound === 'whole' || facts.bound === 'part'
}

/** Whether any of these messages does: asked of the same list at several places of a request, and looked for once. */
export const anyHasBoundThoughts = remembering(
  (messages: readonly Message[]) => messages,
  (messages) => messages.some(hasBoundThoughts),
)

/** What of a conversation tells which results answer which calls. */
export type Rounds = Pick<History, 'messages' | 'structure'>

/** A call by the message that makes it, and its position among that message's calls. */
export type CallPlace = { readonly index: number; readonly position: number }

/** A reply of the model: its messages, from `start` up to `end`, and the calls that they make, in their order. */
type Reply = {
  readonly start: number
  readonly end: number
  readonly calls: readonly (CallPlace & { readonly id: string })[]
  /** Where each id stands first among the calls. */
  readonly firsts: ReadonlyMap<string, number>
}

/** The reply that message `index` is a part of, or a result for; of any other message what would be one. */
export function replyAt(rounds: Rounds, index: number): Reply {
  const { messages, structure } = rounds
  // What follows decides nothing: an answer that comes late would give an older one another call.
  const start = structure.lastUnitStart(index + 1)
  const latest = latestReplies.get(structure)
  if (latest?.start === start) return latest
  const calls: Reply['calls'][number][] = []
  const firsts = new Map<string, number>()
  let end = start
  do {
    for (const [position, id] of messages[end]?.facts.callIds.entries() ?? []) {
      if (!firsts.has(id)) firsts.set(id, calls.length)
      calls.push({ index: end, position, id })
    }
    end += 1
  } while (replyStart(rounds, end) === start)
  const reply = { start, end, calls, firsts }
  latestReplies.set(structure, reply)
  return reply
}

/** The first message of the reply that message `index` is a part of; the message itself where it is part of none. */
export function replyStart({ messages, structure }: Rounds, index: number): number {
  return messages[index]?.facts.opensReply === true ? structure.lastUnitStart(index + 1) : index
}

/** Whether a message begins with entry `index`, as a reader counts them: what one reply consists of is one. */
export function opensMessage(rounds: Rounds, index: number): boolean {
  return replyStart(rounds, index) === index
}

/** Whether message `index` is part of a reply that makes no calls: the model talks. */
export function isTalk(history: Rounds, index: number): boolean {
  return history.messages[index]?.facts.role === 'assistant' && replyAt(history, index).calls.length === 0
}

/** The call that message `index` answers, or the first of what it is part of; null where it has to do with none. */
export function callOf(history: Rounds, index: number): CallPlace | null {
  const facts = history.messages[index]?.facts
  if (facts === undefined) return null
  if (facts.callIds.length > 0 && facts.answers.length === 0) return { index, position: 0 }
  const { end, calls, firsts } = replyAt(history, index)
  const [answersId] = facts.answers
  if (answersId === undefined) return index < end ? (calls[0] ?? null) : null
  // Results mostly come in the order of their calls.
  const inOrder = calls[index - end]
  if (answersId !== '')
    return inOrder?.id === answersId ? inOrder : (calls[firsts.get(answersId) ?? -1] ?? inOrder ?? null)
  // Where they do not, and have no ids, they may name their tools.
  const isNamed = (call: CallPlace | undefined): boolean =>
    call !== undefined && history.messages[call.index]?.facts.callNames[call.position] === facts.name
  return [inOrder, ...calls].find(isNamed) ?? inOrder ?? null
}

/** The name of the tool whose result message `index` is: its own `name`, else the call's; '' where unknown. */
export function toolNameOf(history: Rounds, index: number): string {
  const facts = history.messages[index]?.facts
  if (facts === undefined) return ''
  if (facts.name !== null && facts.name !== '') return facts.name
  const call = callOf(history, index)
  return call === null ? '' : (history.messages[call.index]?.facts.callNames[call.position] ?? '')
}

/** Whether message `index` is one of the operator's, wherever it stands. */
export function isSystem(history: Pick<History, 'messages'>, index: number): boolean {
  const role = history.messages[index]?.facts.role
  return role === 'system' || role === 'developer'
}

/** Whether it is a system message that says something in words: what sets tools or parameters is said again as it is. */
export function isInstruction(history: Pick<History, 'messages'>, index: number): boolean {
  return isSystem(history, index) && history.messages[index]?.facts.survives === undefined
}

/** Whether the user said message `index`: a result that became text has the user's role, and nobody said it. */
export function isSaidByUser(history: History, index: number): boolean {
  return history.messages[index]?.facts.role === 'user' && !history.structure.isStandIn(index)
}

/**
 * What stands before the server's own compaction, which has all that goes on from it: its clients may leave that out, by
 * OpenAI's own word. What the operator says there and what holds for all that follows is no part of it.
 */
export function pastOf(history: Rounds) {
  const { messages, structure } = history
  const { unkeyedCount, systemCount } = structure
  const start = systemCount - 1
  /** What its user said, ascending: a server may well go on showing that. */
  const said: number[] = []
  /** All else. */
  const spent = new Set<number>()
  // A call that is answered behind it goes on.
  if (systemCount === unkeyedCount || !structure.isFrontier(systemCount)) return { said, spent }
  const isSetting = (index: number): boolean => messages[index]?.facts.survives === 'last'
  const settings: number[] = []
  for (let index = 0; index < start; index += 1) if (isSetting(index)) settings.push(index)
  const inForce = settings.at(-1)
  // Two settings that meet are refused: of those in the past the last stays, and one that leads the conversation always does.
  if (settings.some((index) => index < unkeyedCount) && inForce !== undefined && inForce >= unkeyedCount)
    return { said, spent }
  for (let index = unkeyedCount; index < start; index += 1) {
    const { role, survives } = messages[index]?.facts ?? {}
    const isLasting = survives === 'each' || isSystem(history, index)
    if (role === 'user') said.push(index)
    else if (isSetting(index) ? index !== inForce : !isLasting) spent.add(index)
  }
  return { said, spent }
}

/** A result that only refers to an earlier one, in the place of that one's text. */
export type Reference = {
  /** The results with that text or in its place, ascending: the first has it, all others refer to it. */
  readonly holders: readonly number[]
  /** Which of them this one is. */
  readonly position: number
  /** How much more it takes with the text than as it came, in tokens; may be below zero. */
  readonly growthTokens: number
}

/** The references of a conversation, by their indexes. */
export type References = {
  readonly byIndex: ReadonlyMap<number, Reference>
  /** The same indexes, ascending. */
  readonly indexes: readonly number[]
  /** The holders behind a result, if others refer to it. */
  readonly followersOf: (index: number) => readonly number[]
}

/** A conversation in which nothing refers to anything. */
export const NO_REFERENCES: References = { byIndex: new Map(), indexes: [], followersOf: () => [] }

// --- internal ---

/** Its calls are asked for by one result after the other. */
const latestReplies = new WeakMap<Structure, Reply>()
