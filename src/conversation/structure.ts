import type { Message } from './message.ts'
import type { Pausable } from '../json/source.ts'

/** Where a conversation divides. Indexes count messages; all are found in one pass and looked up at once. */
export type Structure = {
  /** How many messages lead that stay as they are: system and developer ones, and all up to the server's own compaction. */
  readonly systemCount: number
  /** How many of them no key stands for: the system and developer messages at the very beginning. */
  readonly unkeyedCount: number
  /** The first user message; -1 if there is none. */
  readonly task: number
  /** The user messages: each begins a turn, which reaches up to the next. */
  readonly turns: readonly number[]
  /** Where requests were made, ascending: before every reply but one at 0, and at the end. */
  readonly requestPoints: readonly number[]
  /**
   * Where a record may be found, ascending: at the request points, and before user messages that no reply precedes, where a
   * request may have been made whose answer was interrupted.
   */
  readonly recordPoints: readonly number[]
  /** Whether a user message stands for a result that became text: nobody said it, and it begins no turn. */
  readonly isStandIn: (index: number) => boolean
  /** The last user message before `index`; -1 if there is none. */
  readonly latestUserBefore: (index: number) => number
  /**
   * The first message of the unit that `index` lies in: a reply, with all messages that it consists of, and the results that
   * follow it. An interrupted round is one unit too: while a call of the last reply is unanswered, and a result before the
   * next reply has its id, everything between belongs together. So does what shares an id: the result of a server's own tool
   * with which a reply begins ends the unit of its call.
   */
  readonly unitStart: (index: number) => number
  /** Whether the conversation may be cut before the message at `index`; true at 0 and at the end. */
  readonly isFrontier: (index: number) => boolean
  /** The first message of the last unit of the prefix that ends before `point`, seen without what follows; 0 at 0. */
  readonly lastUnitStart: (point: number) => number
  /** Where the newest round before `point` begins: at its last reply; without one, at its last unit. */
  readonly newestRoundStart: (point: number) => number
  /** What the functions look up: for each message, the first message of its unit. */
  readonly units: {
    /** When nothing after the message is looked at. */
    readonly inPrefix: Int32Array
    /** In the whole. */
    readonly inWhole: Int32Array
  }
}

/**
 * An earlier conversation that another begins like: their first `shared` messages have the same bytes and the same
 * facts. What was found out about those then need not be found out again.
 */
export type Growth = {
  readonly messages: readonly Message[]
  readonly structure: Structure
  /** The meaning key of every prefix. */
  readonly keys: readonly string[]
  readonly shared: number
}

/**
 * The structure of a conversation, broken ones included. Results are matched with calls by position, since
 * ids repeat in the wild: an id counts only between its reply and the next. Below a request
 * point the frontiers are those of the prefix that ends there, whatever came later. Of a conversation that it grew from,
 * in which nothing stands for anything, what lies before the first new message is taken over.
 */
export function* structureOf(
  messages: readonly Pick<Message, 'facts'>[],
  standIns: ReadonlySet<number> = NO_STAND_INS,
  grewFrom: Pick<Growth, 'structure' | 'shared'> | null = null,
): Pausable<Structure> {
  const inPrefix = yield* prefixUnits(messages, grewFrom)
  const inWhole = wholeUnits(inPrefix, grewFrom)
  yield
  const first = messages.findIndex(({ facts: { role } }) => role !== 'system' && role !== 'developer')
  const unkeyedCount = first === -1 ? messages.length : first
  const start = messages.findLastIndex(({ facts }) => facts.startsHistory === true)
  const systemCount = Math.max(unkeyedCount, start + 1)
  // What began anew has other turns.
  const same = grewFrom?.structure.systemCount === systemCount ? grewFrom : null
  const shared = same?.shared ?? 0
  const sharedOf = (indexes: readonly number[] = []): number[] =>
    indexes.slice(0, countBelow(indexes, shared))
  const turns = sharedOf(same?.structure.turns)
  const requestPoints = sharedOf(same?.structure.requestPoints)
  const recordPoints = sharedOf(same?.structure.recordPoints)
  for (let index = shared; index < messages.length; index += 1) {
    if (index % MESSAGES_PER_STEP === 0) yield
    const isUser = messages[index]?.facts.role === 'user'
    if (isUser && index >= systemCount && !standIns.has(index)) turns.push(index)
    // What the server has compacted is no past to walk through: nothing is done to it any more.
    if (index === 0 || index < systemCount) continue
    const isRequest = beginsReply(messages, index)
    const isInterruption = isUser && messages[index - 1]?.facts.opensReply === false
    if (isRequest) requestPoints.push(index)
    if (isRequest || isInterruption) recordPoints.push(index)
  }
  requestPoints.push(messages.length)
  recordPoints.push(messages.length)
  return {
    systemCount,
    unkeyedCount,
    task: turns[0] ?? -1,
    turns,
    requestPoints,
    recordPoints,
    isStandIn: (index) => standIns.has(index),
    latestUserBefore: (index) => turns[countBelow(turns, index) - 1] ?? -1,
    unitStart: (index) => inWhole[index] ?? index,
    isFrontier: (index) => index === messages.length || inWhole[index] === index,
    lastUnitStart: (point) => inPrefix[point - 1] ?? 0,
    newestRoundStart: (point) => {
      // A request point before the end is a reply, and one that is the very first message is none.
      const reply = requestPoints[countBelow(requestPoints, point) - 1]
      if (reply !== undefined) return ownStart(inPrefix, reply, point)
      const isReply = systemCount === 0 && messages[0]?.facts.opensReply === true
      return isReply ? 0 : (inPrefix[point - 1] ?? 0)
    },
    units: { inPrefix, inWhole },
  }
}

/** How often each id still waits for an answer. */
export type UnansweredIds = Map<string, number>

/** Adds more calls of the same reply. */
export function addUnanswered(counts: UnansweredIds, callIds: readonly string[]): void {
  for (const id of callIds) counts.set(id, (counts.get(id) ?? 0) + 1)
}

/** Takes one call of that id off the list; false where none waits. */
export function takeAnswered(unanswered: UnansweredIds, id: string): boolean {
  const count = unanswered.get(id) ?? 0
  if (count === 0) return false
  unanswered.set(id, count - 1)
  return true
}

/** Takes the call off the list that a result of this id answers: the one of its id, else any that has none. */
export function takeAnswerOf(unanswered: UnansweredIds, id: string): boolean {
  return takeAnswered(unanswered, id) || takeAnswered(unanswered, '')
}

/** How many of these ascending indexes are below `index`. */
export function countBelow(ascending: readonly number[], index: number): number {
  let low = 0
  let high = ascending.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((ascending[middle] ?? 0) < index) low = middle + 1
    else high = middle
  }
  return low
}

// --- internal ---

const NO_STAND_INS: ReadonlySet<number> = new Set()

/** Messages that are looked at between two pauses: a millisecond or two, before the code is compiled. */
const MESSAGES_PER_STEP = 4_096

type Shared = Pick<Growth, 'structure' | 'shared'> | null

/** Whether a reply begins with this message, and not with one before it to which it is bound. */
function beginsReply(messages: readonly Pick<Message, 'facts'>[], index: number): boolean {
  const facts = messages[index]?.facts
  if (facts === undefined || !facts.opensReply) return false
  let last = index - 1
  for (; messages[last]?.facts.joinsPrevious === true; last -= 1)
    // Its results may stand behind both.
    if ((messages[last]?.facts.callIds.length ?? 0) > 0) return false
  const before = messages[last]?.facts
  return before === undefined || !before.opensReply || !before.joinsNext
}

/** Where a reply's own unit begins, behind what belongs to the one before it. */
function ownStart(inPrefix: Int32Array, reply: number, point: number): number {
  let start = reply
  while (start < point && inPrefix[start] !== start) start += 1
  return start < point ? start : (inPrefix[point - 1] ?? 0)
}

function* prefixUnits(messages: readonly Pick<Message, 'facts'>[], grewFrom: Shared): Pausable<Int32Array> {
  const starts = new Int32Array(messages.length)
  // Nothing reaches over the beginning of a reply: what is behind it is found from there on.
  let from = grewFrom?.shared ?? 0
  while (from > 0 && !beginsReply(messages, from)) from -= 1
  if (grewFrom !== null) starts.set(grewFrom.structure.units.inPrefix.subarray(0, from))
  /** What has each id and what has named it: the last of them, and whether any has it not for its own. */
  const known = new Map<string, { readonly index: number; readonly isNamed: boolean }>()
  /** What shared ids tie together by now, ascending and apart from each other. */
  const spans: { first: number; last: number }[] = []
  for (let index = 0; index < from; index += 1) firstOf(messages[index]?.facts, index)
  let reply = 0
  /** Whether what shared an id ended the unit before: another begins with the next message. */
  let isEnding = false
  const unanswered: UnansweredIds = new Map()
  for (let index = from; index < messages.length; index += 1) {
    if (index % MESSAGES_PER_STEP === 0) yield
    const facts = messages[index]?.facts
    starts[index] = index
    const before = startOf(Math.max(0, index - 1))
    const first = firstOf(facts, index)
    const begins = isEnding
    isEnding = false
    if (facts?.opensReply === true) {
      if (beginsReply(messages, index)) {
        reply = index
        unanswered.clear()
      } else if (begins) reply = index
      const isShared = first < reply
      // A call keeps all of its reply with what it belongs to; a result ends that.
      if (isShared && facts.callIds.length > 0) reply = first
      isEnding = isShared && facts.callIds.length === 0
      starts[index] = isShared ? first : startOf(reply)
      addUnanswered(unanswered, facts.callIds)
    } else if (facts?.joinsPrevious === true && index > 0) {
      if (begins && first === index) reply = index
      starts[index] = begins && first === index ? index : Math.min(first, before)
      isEnding = first < before
      addUnanswered(unanswered, facts.callIds)
    } else if (facts !== undefined && facts.answers.length > 0 && index > 0) {
      let isAnswer = false
      // An answer without an id may mean any call that has none either.
      for (const id of facts.answers) if (takeAnswered(unanswered, id)) isAnswer = true
      starts[index] = startOf(isAnswer ? reply : index - 1)
    }
  }
  return starts

  /** Where the unit of a message begins by now. */
  function startOf(index: number): number {
    const start = starts[index] ?? index
    const span = spans.findLast(({ first }) => first <= start)
    return span !== undefined && start <= span.last ? span.first : start
  }

  /**
   * Where the unit begins of what these ids tie a message to; `index` where that is nothing. Ids repeat in the wild: what
   * has an id for its own that was named since begins anew with it.
   */
  function firstOf(
    facts: Partial<Pick<Message['facts'], 'sharedIds' | 'namedIds'>> = {},
    index: number,
  ): number {
    let first = index
    for (const id of facts.sharedIds ?? []) {
      const before = known.get(id)
      if (before?.isNamed === false) first = Math.min(first, startOf(before.index))
      known.set(id, { index, isNamed: false })
    }
    for (const id of facts.namedIds ?? []) {
      const before = known.get(id)
      if (before === undefined) continue
      first = Math.min(first, startOf(before.index))
      known.set(id, { index, isNamed: true })
    }
    if (first === index) return index
    for (let top = spans.at(-1); top !== undefined && top.last >= first; top = spans.at(-1)) {
      first = Math.min(first, top.first)
      spans.pop()
    }
    spans.push({ first, last: index })
    return first
  }
}

/** The units of the whole, from the last one back: where one begins, the prefix before it ends. */
function wholeUnits(inPrefix: Int32Array, grewFrom: Shared): Int32Array {
  const starts = new Int32Array(inPrefix.length)
  const known = grewFrom?.structure.units.inWhole
  let last = inPrefix.length - 1
  while (last >= 0) {
    // If a unit ended with this message, then those before it are what they were.
    const isKnown = known !== undefined && last < (grewFrom?.shared ?? 0)
    if (isKnown && (last === known.length - 1 || known[last + 1] === last + 1)) {
      starts.set(known.subarray(0, last + 1))
      break
    }
    const first = inPrefix[last] ?? last
    starts.fill(first, first, last + 1)
    last = first - 1
  }
  return starts
}
