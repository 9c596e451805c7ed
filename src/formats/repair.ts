import type { Message } from '../conversation/message.ts'
import type { Source, Pausable } from '../json/source.ts'
import type { ViewItem } from '../json/splice.ts'
import { readRound, type Round, type RoundCall } from './call-rules.ts'
import type { Repaired, Rules } from './contract.ts'

/** A model reads it: neither a success nor a failure, so that it does not take the call for done. */
export const NO_RESULT = '[no result was recorded for this call]'

/**
 * A broken conversation as one that obeys the rules of calls and results; null if there is nothing to repair.
 *
 * A call without a result gets one behind the results of its round, unless the round is open: nothing follows it but what
 * answers its calls. A result without a call becomes what a user says, in its place. Where results have to come first and
 * `isSorted`, those that stand behind something else are moved there.
 *
 * What becomes of a round depends on its entries, and on whether anything follows them. So what was sent up to a request point
 * stays when the conversation grows (P5).
 */
export function* repairCalls(
  source: Source,
  messages: readonly Message[],
  rules: Rules,
): Pausable<Repaired | null> {
  const { isSorted = false } = rules
  const shapes = messages.map(({ facts }) => facts)
  const items: ViewItem[] = []
  const standIns = new Set<number>()
  const repairs = { answered: 0, paired: 0, orphans: 0, emptied: 0 }
  let isMoved = false
  for (let start = 0; start < messages.length;) {
    const round = readRound(shapes, start, isSorted ? { ...rules, mayInterrupt: true } : rules)
    repairRound(round)
    start = round.end
    yield
  }
  const isRepaired = isMoved || Object.values(repairs).some((count) => count > 0)
  return isRepaired ? { items, standIns, repairs } : null

  function repairRound(round: Round): void {
    const { start, replyEnd, end, missing } = round
    for (let index = start; index < replyEnd; index += 1) addReplied(index)
    // Where nobody may interrupt, what follows the results is late.
    const runEnd = rules.mayInterrupt || isSorted ? end : endOfResults(replyEnd, end)
    const ids = idsForNameless(round, runEnd)
    const answering = new Set([...round.results, ...ids.keys()])
    const isOpen = end === messages.length && answering.size === end - replyEnd
    const rest = messages.slice(replyEnd, end).map((_, offset) => replyEnd + offset)
    const last = rest.findLast((index) => answering.has(index))
    const isBefore = (index: number): boolean =>
      isSorted ? answering.has(index) : last !== undefined && index <= last
    const orphans = new Set(round.orphans.filter((index) => !ids.has(index)))
    const hasResults = last !== undefined || missing.length > 0
    const isJoined = (index: number): boolean =>
      rules.withOrphans !== undefined && hasResults && index < runEnd && orphans.has(index)
    const markOf = createMarks(round, runEnd)
    const addBehind = (index: number): void => {
      const id = ids.get(index)
      if (id !== undefined) items.push(madeAt(rules.named?.(jsonOf(index), id) ?? '', index))
      else if (!orphans.has(index)) items.push({ kind: 'kept', index })
      else if (!isJoined(index)) {
        standIns.add(items.length)
        items.push(madeAt(rules.standIn({ mark: markOf(index), json: jsonOf(index) }), index))
      }
    }

    for (const index of rest.filter(isBefore)) addBehind(index)
    const answers = isOpen ? [] : resultsFor(missing.slice(ids.size))
    if (last === undefined && rules.alone !== undefined && answers.length > 0)
      items.push({ kind: 'made', json: rules.alone(answers) })
    else for (const json of answers) items.push(madeAt(json, last))
    const joined = rest.filter(isJoined).map((index) => ({ mark: markOf(index), json: jsonOf(index) }))
    const place = items.length - 1
    const item = items[place]
    if (joined.length > 0 && item !== undefined && rules.withOrphans !== undefined) {
      const json = item.kind === 'made' ? item.json : jsonOf(item.index)
      items[place] = { kind: 'made', json: rules.withOrphans(json, joined) }
    }
    const others = rest.filter((index) => !isBefore(index))
    for (const index of others) addBehind(index)
    isMoved ||= isSorted && others.some((index) => last !== undefined && index < last)
    repairs.answered += answers.length
    repairs.paired += ids.size
    repairs.orphans += orphans.size
  }

  function addReplied(index: number): void {
    if (messages[index]?.facts.emptyCalls !== true || rules.withoutEmptyCalls === undefined) {
      items.push({ kind: 'kept', index })
      return
    }
    items.push(madeAt(rules.withoutEmptyCalls(jsonOf(index)), index))
    repairs.emptied += 1
  }

  function endOfResults(from: number, end: number): number {
    let index = from
    while (index < end && messages[index]?.facts.role === 'tool') index += 1
    return index
  }

  /** Results without an id are taken for the calls that are left, in their order. */
  function idsForNameless({ orphans, missing }: Round, runEnd: number): ReadonlyMap<number, string> {
    const ids = new Map<number, string>()
    if (rules.named === undefined) return ids
    for (const index of orphans) {
      const call = missing[ids.size]
      if (call !== undefined && index < runEnd && messages[index]?.facts.answers[0] === '')
        ids.set(index, call.id)
    }
    return ids
  }

  function resultsFor(calls: readonly RoundCall[]): readonly string[] {
    return [...Map.groupBy(calls, ({ index }) => index)].flatMap(([index, ofEntry]) => {
      const message = messages[index]
      const positions = ofEntry.map(({ position }) => position)
      return message === undefined ? [] : rules.missing(source, message, positions)
    })
  }

  /** What is said of the orphans of a round, by its calls: that of one of them is one too many, or came when it was over. */
  function createMarks({ start, replyEnd }: Round, runEnd: number): (index: number) => string {
    const called = new Map<string, string>()
    for (const { facts } of messages.slice(start, replyEnd))
      for (const [position, id] of facts.callIds.entries()) called.set(id, facts.callNames[position] ?? '')
    // Calls without an id are nobody's to name.
    called.delete('')
    return (index) => {
      const { answers = [], name = null } = messages[index]?.facts ?? {}
      const calledName = called.get(answers[0] ?? '')
      const tool = name ?? calledName ?? ''
      const call = tool === '' ? 'a tool call' : `a call to ${tool}`
      if (calledName === undefined) return `[result of ${call} that is not in this conversation]`
      return `[${index < runEnd ? 'another' : 'late'} result of ${call}]`
    }
  }

  /** What is made stands in the envelope of the entry at `place`, if that has one. */
  function madeAt(json: string, place: number | undefined): ViewItem {
    const isHeld = place !== undefined && messages[place]?.envelope !== undefined
    return isHeld ? { kind: 'made', json, place } : { kind: 'made', json }
  }

  function jsonOf(index: number): string {
    const { start = 0, end = 0 } = messages[index] ?? {}
    return source.text(start, end)
  }
}
