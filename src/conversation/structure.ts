import { takeAnswered, unansweredIdsOf } from './call-ids.ts'
import type { Message, MessageFacts } from './message.ts'

/** Where a conversation divides. Indexes count messages; all are found in one pass and looked up in O(1). */
export type Structure = {
  readonly messageCount: number
  /** How many system and developer messages lead. */
  readonly systemCount: number
  /** The first user message; -1 where there is none. */
  readonly task: number
  /** The user messages: each begins a turn, which reaches up to the next. */
  readonly turns: readonly number[]
  /** Where requests were made, ascending: before every assistant message but one at 0, and at the end. */
  readonly requestPoints: readonly number[]
  /**
   * Where a record may be found, ascending: at the request points, and before user messages that no assistant's
   * word precedes, where a request may have been made whose answer was interrupted.
   */
  readonly recordPoints: readonly number[]
  /** Whether a user message stands for a result that became text: nobody said it, and it begins no turn. */
  readonly isStandIn: (index: number) => boolean
  /** The last user message before `index`; -1 where there is none. */
  readonly latestUserBefore: (index: number) => number
  /**
   * The first message of the unit that `index` lies in: a message with the tool messages that follow it. An
   * interrupted round is one unit too: while a call of the last assistant message is unanswered, and a tool
   * message before the next assistant message has its id, everything between belongs together.
   */
  readonly unitStart: (index: number) => number
  /** Whether the conversation may be cut before the message at `index`; true at 0 and at the end. */
  readonly isFrontier: (index: number) => boolean
  /** The first message of the last unit of the prefix that ends before `point`, seen without what follows; 0 at 0. */
  readonly lastUnitStart: (point: number) => number
}

/**
 * The structure of a conversation, broken ones included. Answers are matched with calls by position, since
 * ids repeat in the wild: an id counts only between its assistant message and the next. Below a request
 * point the frontiers are those of the prefix that ends there, whatever came later.
 */
export function structureOf(
  messages: readonly Pick<Message, 'facts'>[],
  standIns: ReadonlySet<number> = new Set(),
): Structure {
  const facts = messages.map((message) => message.facts)
  const prefixStarts = prefixUnitStarts(facts)
  const starts = wholeUnitStarts(prefixStarts)
  const turns = facts.flatMap(({ role }, index) => (role === 'user' && !standIns.has(index) ? [index] : []))
  const users = latestBefore(turns, facts.length)
  return {
    messageCount: facts.length,
    systemCount: leadingSystemCount(facts),
    task: turns[0] ?? -1,
    turns,
    requestPoints: requestPointsOf(facts),
    recordPoints: recordPointsOf(facts),
    isStandIn: (index) => standIns.has(index),
    latestUserBefore: (index) => users[index] ?? -1,
    unitStart: (index) => starts[index] ?? index,
    isFrontier: (index) => index === facts.length || starts[index] === index,
    lastUnitStart: (point) => prefixStarts[point - 1] ?? 0,
  }
}

// --- internal ---

function leadingSystemCount(facts: readonly MessageFacts[]): number {
  const first = facts.findIndex(({ role }) => role !== 'system' && role !== 'developer')
  return first === -1 ? facts.length : first
}

function requestPointsOf(facts: readonly MessageFacts[]): readonly number[] {
  const points = facts.flatMap(({ role }, index) => (role === 'assistant' && index > 0 ? [index] : []))
  return [...points, facts.length]
}

function recordPointsOf(facts: readonly MessageFacts[]): readonly number[] {
  const points = facts.flatMap(({ role }, index) => {
    if (index === 0) return []
    const isInterruption = role === 'user' && facts[index - 1]?.role !== 'assistant'
    return role === 'assistant' || isInterruption ? [index] : []
  })
  return [...points, facts.length]
}

/** At each index, the last of these before it; -1 where there is none. */
function latestBefore(indexes: readonly number[], length: number): Int32Array {
  const latest = new Int32Array(length + 1).fill(-1)
  for (const [position, index] of indexes.entries())
    latest.fill(index, index + 1, (indexes[position + 1] ?? length) + 1)
  return latest
}

/** For each message, the first message of its unit when nothing after it is looked at. */
function prefixUnitStarts(facts: readonly MessageFacts[]): Int32Array {
  const starts = new Int32Array(facts.length)
  let assistant = 0
  let unanswered = unansweredIdsOf([])
  for (const [index, { role, callIds, answersId }] of facts.entries()) {
    starts[index] = index
    if (role === 'assistant') {
      assistant = index
      unanswered = unansweredIdsOf(callIds)
    } else if (role === 'tool' && index > 0) {
      // An answer without an id may mean any call that has none either.
      starts[index] = takeAnswered(unanswered, answersId ?? '') ? assistant : (starts[index - 1] ?? 0)
    }
  }
  return starts
}

/** The units of the whole, from the last one back: where one begins, the prefix before it ends. */
function wholeUnitStarts(prefixStarts: Int32Array): Int32Array {
  const starts = new Int32Array(prefixStarts.length)
  let last = prefixStarts.length - 1
  while (last >= 0) {
    const first = prefixStarts[last] ?? last
    starts.fill(first, first, last + 1)
    last = first - 1
  }
  return starts
}
