import { takeAnswered, unansweredIdsOf } from './call-ids.ts'
import { countBelow } from './count-below.ts'
import type { Growth } from './growth.ts'
import type { Message } from './message.ts'

/** Where a conversation divides. Indexes count messages; all are found in one pass and looked up at once. */
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
  /** Where the newest round before `point` begins: at its last assistant message; without one, at its last unit. */
  readonly newestRoundStart: (point: number) => number
}

/**
 * The structure of a conversation, broken ones included. Answers are matched with calls by position, since
 * ids repeat in the wild: an id counts only between its assistant message and the next. Below a request
 * point the frontiers are those of the prefix that ends there, whatever came later. Of a conversation that it grew from,
 * in which nothing stands for anything, what lies before the first new message is taken over.
 */
export function structureOf(
  messages: readonly Pick<Message, 'facts'>[],
  standIns: ReadonlySet<number> = new Set(),
  grewFrom: Pick<Growth, 'structure' | 'shared'> | null = null,
): Structure {
  const known = grewFrom === null ? null : knownOf(grewFrom)
  const units = unitsOf(messages, known)
  const points = pointsOf(messages, standIns, known)
  const { turns } = points
  const structure = {
    messageCount: messages.length,
    systemCount: leadingSystemCount(messages),
    task: turns[0] ?? -1,
    ...points,
    isStandIn: (index: number) => standIns.has(index),
    latestUserBefore: (index: number) => turns[countBelow(turns, index) - 1] ?? -1,
    unitStart: (index: number) => units.starts[index] ?? index,
    isFrontier: (index: number) => index === messages.length || units.starts[index] === index,
    lastUnitStart: (point: number) => units.prefixStarts[point - 1] ?? 0,
    newestRoundStart: (point: number) => {
      // A request point before the end is an assistant message, and one that is the very first message is none.
      const assistant = points.requestPoints[countBelow(points.requestPoints, point) - 1]
      if (assistant !== undefined) return assistant
      return messages[0]?.facts.role === 'assistant' ? 0 : (units.prefixStarts[point - 1] ?? 0)
    },
  }
  unitsByStructure.set(structure, units)
  return structure
}

// --- internal ---

type Units = {
  /** For each message, the first message of its unit when nothing after it is looked at. */
  readonly prefixStarts: Int32Array
  /** The same in the whole. */
  readonly starts: Int32Array
}

/** What is known of the first `shared` messages. */
type Known = { readonly structure: Structure; readonly units: Units; readonly shared: number }

const unitsByStructure = new WeakMap<Structure, Units>()

function knownOf({ structure, shared }: Pick<Growth, 'structure' | 'shared'>): Known | null {
  const units = unitsByStructure.get(structure)
  return units === undefined ? null : { structure, units, shared }
}

function leadingSystemCount(messages: readonly Pick<Message, 'facts'>[]): number {
  const first = messages.findIndex(({ facts: { role } }) => role !== 'system' && role !== 'developer')
  return first === -1 ? messages.length : first
}

function pointsOf(
  messages: readonly Pick<Message, 'facts'>[],
  standIns: ReadonlySet<number>,
  known: Known | null,
): Pick<Structure, 'turns' | 'requestPoints' | 'recordPoints'> {
  const shared = known?.shared ?? 0
  const sharedOf = (indexes: readonly number[] = []): number[] =>
    indexes.slice(0, countBelow(indexes, shared))
  const turns = sharedOf(known?.structure.turns)
  const requestPoints = sharedOf(known?.structure.requestPoints)
  const recordPoints = sharedOf(known?.structure.recordPoints)
  for (let index = shared; index < messages.length; index += 1) {
    const role = messages[index]?.facts.role
    if (role === 'user' && !standIns.has(index)) turns.push(index)
    if (index === 0) continue
    const isInterruption = role === 'user' && messages[index - 1]?.facts.role !== 'assistant'
    if (role === 'assistant') requestPoints.push(index)
    if (role === 'assistant' || isInterruption) recordPoints.push(index)
  }
  requestPoints.push(messages.length)
  recordPoints.push(messages.length)
  return { turns, requestPoints, recordPoints }
}

function unitsOf(messages: readonly Pick<Message, 'facts'>[], known: Known | null): Units {
  const prefixStarts = prefixUnitStarts(messages, known)
  return { prefixStarts, starts: wholeUnitStarts(prefixStarts, known) }
}

function prefixUnitStarts(messages: readonly Pick<Message, 'facts'>[], known: Known | null): Int32Array {
  const starts = new Int32Array(messages.length)
  // Nothing reaches over an assistant message: what is behind it is found from there on.
  let from = known?.shared ?? 0
  while (from > 0 && messages[from]?.facts.role !== 'assistant') from -= 1
  if (known !== null) starts.set(known.units.prefixStarts.subarray(0, from))
  let assistant = 0
  let unanswered = unansweredIdsOf([])
  for (let index = from; index < messages.length; index += 1) {
    const facts = messages[index]?.facts
    starts[index] = index
    if (facts?.role === 'assistant') {
      assistant = index
      unanswered = unansweredIdsOf(facts.callIds)
    } else if (facts?.role === 'tool' && index > 0) {
      // An answer without an id may mean any call that has none either.
      const isAnswer = takeAnswered(unanswered, facts.answersId ?? '')
      starts[index] = isAnswer ? assistant : (starts[index - 1] ?? 0)
    }
  }
  return starts
}

/** The units of the whole, from the last one back: where one begins, the prefix before it ends. */
function wholeUnitStarts(prefixStarts: Int32Array, known: Known | null): Int32Array {
  const starts = new Int32Array(prefixStarts.length)
  let last = prefixStarts.length - 1
  while (last >= 0) {
    if (known !== null && last < known.shared && isUnitsEnd(known.units, last)) {
      starts.set(known.units.starts.subarray(0, last + 1))
      break
    }
    const first = prefixStarts[last] ?? last
    starts.fill(first, first, last + 1)
    last = first - 1
  }
  return starts
}

/** Whether a unit ended with this message: then those before it are what they were. */
function isUnitsEnd({ starts }: Units, index: number): boolean {
  return index === starts.length - 1 || starts[index + 1] === index + 1
}
