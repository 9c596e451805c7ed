import {
  takeAnswerOf,
  takeAnswered,
  unansweredIdsOf,
  type UnansweredIds,
} from '../../conversation/call-ids.ts'
import { isJsonObject, parseJson } from '../../conversation/json-value.ts'
import type { Message, MessageFacts } from '../../conversation/message.ts'
import type { Source, Steps } from '../../conversation/source.ts'
import type { ViewItem } from '../../conversation/splice.ts'
import type { Repaired } from '../contract.ts'
import { readable } from '../readable.ts'
import { orphanMark } from '../repair-words.ts'
import { readCalls } from './calls.ts'
import {
  missingResult,
  standInFor,
  withCallId,
  withOrphans,
  withoutEmptyCalls,
  type Orphan,
} from './repaired-messages.ts'

/**
 * A broken conversation as one that obeys the rules of tool calls; null where there is nothing to repair.
 *
 * Calls and results are paired by their ids within a round; results of a round that have none are taken for the
 * calls that are left, in their order.
 *
 * A call without a result gets one behind the results of its round, unless the round is open: it reaches to the
 * end, and whatever is in it answers a call of it. A result without a call becomes text: in a round behind its
 * last result, since templates refuse a user message there, elsewhere as a user message in its place.
 *
 * What becomes of a round depends on its assistant message and the results behind it, and on whether anything
 * follows them. So what was sent up to a request point stays when the conversation grows (P5).
 */
export function* repairConversation(source: Source, messages: readonly Message[]): Steps<Repaired | null> {
  const items: ViewItem[] = []
  const standIns = new Set<number>()
  const repairs = { answered: 0, paired: 0, orphans: 0, emptied: 0 }
  // The calls of the last assistant message: their names by their ids.
  let called: ReadonlyMap<string, string> = new Map()

  for (let index = 0; index < messages.length;) {
    const message = messages[index]
    if (message === undefined) break
    const { facts } = message
    if (facts.role === 'tool') {
      standIns.add(items.length)
      items.push(made(standInFor(orphanAt(message, 'late'))))
      repairs.orphans += 1
      yield
    } else if (facts.emptyCalls) {
      items.push(made(withoutEmptyCalls(textOf(message))))
      repairs.emptied += 1
      yield
    } else items.push({ kind: 'kept', index })
    index += 1
    if (facts.role !== 'assistant') continue
    called = namesById(facts)
    if (facts.callIds.length > 0) index = yield* repairRound(message, index)
  }
  return Object.values(repairs).some((count) => count > 0) ? { items, standIns, repairs } : null

  /** Takes in the results from `start` on; returns where they end. */
  function* repairRound(calling: Message, start: number): Steps<number> {
    const { callIds } = calling.facts
    const end = resultsEnd(messages, start)
    const run = messages.slice(start, end)
    const waiting = unansweredIdsOf(callIds)
    const answers = run.map(({ facts }) => takeAnswerOf(waiting, facts.answers[0] ?? ''))
    const missing = positionsWaiting(callIds, waiting)
    const orphans: Orphan[] = []
    let paired = 0
    for (const [offset, result] of run.entries()) {
      const position = missing[paired]
      if (answers[offset] === true) items.push({ kind: 'kept', index: start + offset })
      else if (position !== undefined && isWithoutId(result)) {
        items.push(made(withCallId(textOf(result), callIds[position] ?? '')))
        paired += 1
        yield
      } else {
        orphans.push(orphanAt(result, 'another'))
        yield
      }
    }
    repairs.paired += paired
    // A result that answers none of its calls shows that an open round will not be answered either.
    const isOpen = end === messages.length && orphans.length === 0
    if (!isOpen && paired < missing.length) {
      const form = readable(source, calling)
      const value = parseJson(form.source, form.message)
      const calls = isJsonObject(value) ? readCalls(value) : null
      for (const position of missing.slice(paired)) items.push(made(missingResult(calls?.[position])))
      repairs.answered += missing.length - paired
      yield
    }
    const last = items.at(-1)
    if (orphans.length > 0 && last !== undefined) {
      items[items.length - 1] = made(withOrphans(jsonOf(last), orphans))
      repairs.orphans += orphans.length
      yield
    }
    return end
  }

  function orphanAt(message: Message, known: 'another' | 'late'): Orphan {
    const { answers, name } = message.facts
    const calledName = called.get(answers[0] ?? '')
    const mark = orphanMark(calledName === undefined ? 'unknown' : known, name ?? calledName ?? '')
    return { mark, json: textOf(message) }
  }

  function jsonOf(item: ViewItem): string {
    if (item.kind === 'made') return item.json
    const message = messages[item.index]
    return message === undefined ? '' : textOf(message)
  }

  function textOf({ start, end }: Message): string {
    return source.text(start, end)
  }
}

// --- internal ---

function made(json: string): ViewItem {
  return { kind: 'made', json }
}

/** Calls without an id are nobody's to name. */
function namesById({ callIds, callNames }: MessageFacts): ReadonlyMap<string, string> {
  const names = callIds.map((id, position): [string, string] => [id, callNames[position] ?? ''])
  return new Map(names.filter(([id]) => id !== ''))
}

function resultsEnd(messages: readonly Message[], start: number): number {
  let end = start
  while (messages[end]?.facts.role === 'tool') end += 1
  return end
}

function isWithoutId({ facts }: Message): boolean {
  return facts.answers[0] === ''
}

/** The calls that still wait, ascending. Of several under one id the first ones are taken to be answered. */
function positionsWaiting(callIds: readonly string[], waiting: UnansweredIds): number[] {
  const positions: number[] = []
  for (let position = callIds.length - 1; position >= 0; position -= 1) {
    if (takeAnswered(waiting, callIds[position] ?? '')) positions.push(position)
  }
  return positions.toReversed()
}
