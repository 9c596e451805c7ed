import { addUnanswered, takeAnswered, takeAnswerOf, type UnansweredIds } from '../../conversation/call-ids.ts'
import { isJsonObject, parseJsonText, stringifyJson, stringOr } from '../../json/json-value.ts'
import type { Message } from '../../conversation/message.ts'
import type { Source, Steps } from '../../json/source.ts'
import type { ViewItem } from '../../json/splice.ts'
import type { Repaired } from '../contract.ts'
import { NO_RESULT, orphanMark } from '../repair-words.ts'

/**
 * A broken history as one that obeys the rules of calls and results; null if there is nothing to repair. The results of a reply
 * come first behind it. A call without one gets one there, unless the round is open: nothing follows it but what answers its
 * calls. A result without a call becomes what a user says.
 */
export function* repairBlocks(source: Source, messages: readonly Message[]): Steps<Repaired | null> {
  const items: ViewItem[] = []
  const standIns = new Set<number>()
  const repairs = { answered: 0, paired: 0, orphans: 0, emptied: 0 }
  let isMoved = false
  for (let start = 0; start < messages.length;) {
    const reply = endOfRun(messages, start, isReply)
    const end = endOfRun(messages, reply, (role) => role !== 'assistant')
    for (let index = start; index < reply; index += 1) items.push({ kind: 'kept', index })
    const round = readRound(messages, start, reply, end)
    for (const index of round.results) items.push({ kind: 'kept', index })
    if (!round.isOpen) {
      const place = round.results.at(-1)
      const made = round.missing.map((id) => resultOf(id))
      if (place !== undefined) for (const json of made) items.push({ kind: 'made', json, place })
      else if (made.length > 0)
        items.push({ kind: 'made', json: `{"role":"user","content":[${made.join(',')}]}` })
      repairs.answered += made.length
    }
    for (const index of round.others) {
      if (round.orphans.has(index)) {
        standIns.add(items.length)
        items.push({ kind: 'made', json: standInFor(source, messages[index]), place: index })
        repairs.orphans += 1
        yield
      } else items.push({ kind: 'kept', index })
    }
    isMoved ||= round.isMoved
    start = Math.max(end, start + 1)
    yield
  }
  return isMoved || repairs.answered + repairs.orphans > 0 ? { items, standIns, repairs } : null
}

// --- internal ---

type Round = {
  /** The results of the reply's calls, and all else that stands before the next reply. */
  readonly results: readonly number[]
  readonly others: readonly number[]
  /** Those of the others that are results of no call of the reply. */
  readonly orphans: ReadonlySet<number>
  /** The calls that nothing answers. */
  readonly missing: readonly string[]
  /** Whether nothing follows it but what answers its calls. */
  readonly isOpen: boolean
  /** Whether something else stood before a result. */
  readonly isMoved: boolean
}

function isReply(role: Message['facts']['role']): boolean {
  return role === 'assistant'
}

function endOfRun(
  messages: readonly Message[],
  start: number,
  belongs: (role: Message['facts']['role']) => boolean,
): number {
  let end = start
  for (
    let role = messages[end]?.facts.role;
    role !== undefined && belongs(role);
    role = messages[end]?.facts.role
  )
    end += 1
  return end
}

function readRound(messages: readonly Message[], start: number, reply: number, end: number): Round {
  const open: UnansweredIds = new Map()
  const ids = messages.slice(start, reply).flatMap(({ facts }) => facts.callIds)
  addUnanswered(open, ids)
  const results: number[] = []
  const others: number[] = []
  const orphans = new Set<number>()
  let isMoved = false
  for (let index = reply; index < end; index += 1) {
    const answers = messages[index]?.facts.answers ?? []
    if (answers.length > 0 && answers.every((id) => takeAnswerOf(open, id))) {
      isMoved ||= others.length > 0
      results.push(index)
    } else {
      if (answers.length > 0) orphans.add(index)
      others.push(index)
    }
  }
  const missing = ids.filter((id) => takeAnswered(open, id))
  return {
    results,
    others,
    orphans,
    missing,
    isMoved,
    isOpen: end === messages.length && others.length === 0,
  }
}

function resultOf(id: string): string {
  return JSON.stringify({ type: 'tool_result', tool_use_id: id, content: NO_RESULT })
}

/** What a user says in the place of a result that answers no call: one block, with its words or with what it shows. */
function standInFor(source: Source, message: Message | undefined): string {
  const block = message === undefined ? null : parseJsonText(source.text(message.start, message.end))
  const content: unknown = isJsonObject(block) ? block['content'] : null
  const mark = orphanMark('unknown', '')
  const parts: readonly unknown[] = Array.isArray(content)
    ? content
    : [{ type: 'text', text: stringOr(content, '') }]
  const said = parts.map((part) =>
    isJsonObject(part) && typeof part['text'] === 'string' ? part['text'] : stringifyJson(part),
  )
  return JSON.stringify({ type: 'text', text: [mark, ...said].filter((text) => text !== '').join('\n') })
}
