import {
  takeAnswered,
  takeAnswerOf,
  type UnansweredIds,
  unansweredIdsOf,
} from '../../conversation/call-ids.ts'
import { isJsonObject, parseJson } from '../../json/json-value.ts'
import type { Message, MessageFacts } from '../../conversation/message.ts'
import type { Source, Steps } from '../../json/source.ts'
import type { ViewItem } from '../../json/splice.ts'
import type { Repaired } from '../contract.ts'
import { readable } from '../readable.ts'
import { NO_RESULT, orphanMark } from '../repair-words.ts'
import { type Call, readCalls } from './calls.ts'
import { scanObject } from '../../json/json-scan.ts'
import { textPart } from '../content/text-part.ts'
import {
  contentIn,
  joinedContent,
  type JsonContent,
  valueText,
  withContent,
  withValue,
} from '../content/joined-content.ts'

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

// The messages that a repair writes. All are given and made as JSON; what is not changed in them stays as it is spelt.

/**
 * The result of a call that has none, as JSON. The call's id is the client's: none is invented. A legacy
 * `function_call` is answered by the name that it calls.
 */
function missingResult(call: Call | undefined): string {
  const content = NO_RESULT
  if (call?.form === 'legacy') return JSON.stringify({ role: 'function', name: call.name, content })
  const id = call?.id ?? ''
  return JSON.stringify({ role: 'tool', ...(id === '' ? {} : { tool_call_id: id }), content })
}

/** A result, given as JSON, under the id of the call that it answers: as a tool message, since no other has an id. */
function withCallId(result: string, id: string): string {
  const named = withValue(result, 'tool_call_id', JSON.stringify(id))
  return valueText(named, 'role') === '"tool"' ? named : withValue(named, 'role', '"tool"')
}

/**
 * An assistant message, given as JSON, without its empty list of calls. With no calls it has to say something: where
 * it has no content, and nothing that stands for one, it gets an empty one.
 */
function withoutEmptyCalls(message: string): string {
  const entries = scanObject(message, 0)?.entries ?? []
  const at = entries.findIndex(({ key }) => JSON.parse(message.slice(key.start, key.end)) === 'tool_calls')
  const list = entries[at]
  const next = entries[at + 1]
  const previous = entries[at - 1]
  if (list === undefined) return message
  // The role is another entry, so that there is always one before it or behind it.
  const start = previous?.value.end ?? list.key.start
  const end = previous === undefined ? (next?.key.start ?? list.value.end) : list.value.end
  const left = message.slice(0, start) + message.slice(end)
  return contentIn(left) === null && standingForContent.every((key) => isAbsent(left, key))
    ? withContent(left, '""')
    : left
}

/** A result that answers no call: what is said of it, and the message as JSON. */
type Orphan = { readonly mark: string; readonly json: string }

/** The user message, as JSON, that stands for an orphan. Its parts are left as they are spelt, media among them. */
function standInFor(orphan: Orphan): string {
  const contents = contentsOf(orphan)
  return `{"role":"user","content":${joinedContent(contents.at(-1)?.kind ?? 'string', contents, textPart)}}`
}

/** A result, as JSON, with orphans of its round behind its own content. */
function withOrphans(result: string, orphans: readonly Orphan[]): string {
  const own = anyContentIn(result)
  const contents = orphans.flatMap(contentsOf)
  return withContent(
    result,
    joinedContent(own?.kind ?? 'string', own === null ? contents : [own, ...contents], textPart),
  )
}

const standingForContent = ['content', 'function_call', 'refusal', 'audio']

function isAbsent(message: string, key: string): boolean {
  const value = valueText(message, key)
  return value === null || value === 'null'
}

function contentsOf({ mark, json }: Orphan): readonly JsonContent[] {
  const content = anyContentIn(json)
  const said: JsonContent = { kind: 'string', json: JSON.stringify(mark) }
  return content === null ? [said] : [said, content]
}

/** The content of a result, one of an unknown shape as the text that it is written with; null where it has none. */
function anyContentIn(message: string): JsonContent | null {
  const content = contentIn(message)
  if (content !== null) return content
  const other = valueText(message, 'content')
  return other === null || other === 'null' ? null : { kind: 'string', json: JSON.stringify(other) }
}
