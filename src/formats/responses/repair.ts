import { addUnanswered, takeAnswered, takeAnswerOf, type UnansweredIds } from '../../conversation/call-ids.ts'
import {
  isJsonObject,
  parseJson,
  parseJsonText,
  stringifyJson,
  stringOr,
  type JsonObject,
} from '../../json/json-value.ts'
import type { Message } from '../../conversation/message.ts'
import type { Source, Steps } from '../../json/source.ts'
import type { ViewItem } from '../../json/splice.ts'
import type { Repaired } from '../contract.ts'
import { readable } from '../readable.ts'
import { NO_RESULT, orphanMark } from '../repair-words.ts'
import { callIdOf } from './calls.ts'
import { picturesBeside, saidIn } from './outputs.ts'

/**
 * A broken input as one that obeys the rules of calls and outputs; null if there is nothing to repair. A call without an output
 * gets one behind the last output of its round, unless the round is open: nothing follows it but what answers its calls. An
 * output without a call becomes what a user says.
 */
export function* repairInput(source: Source, messages: readonly Message[]): Steps<Repaired | null> {
  const items: ViewItem[] = []
  const standIns = new Set<number>()
  const repairs = { answered: 0, paired: 0, orphans: 0, emptied: 0 }
  let round: Round = openRound()
  let isReply = false

  function* closeRound(): Steps<void> {
    const missing = round.calls.filter(({ id }) => takeAnswered(round.open, id))
    if (missing.length === 0) return
    const made = missing.flatMap(({ index }) => missingOutputs(source, messages[index]))
    items.splice(round.end, 0, ...made)
    // What stands behind them has moved.
    for (const at of [...standIns].filter((standIn) => standIn >= round.end)) {
      standIns.delete(at)
      standIns.add(at + made.length)
    }
    repairs.answered += made.length
    yield
  }

  for (const [index, message] of messages.entries()) {
    const { role, callIds, answers } = message.facts
    if (role === 'assistant') {
      if (!isReply) {
        yield* closeRound()
        round = openRound()
      }
      isReply = true
      addUnanswered(round.open, callIds)
      for (const id of callIds) round.calls.push({ index, id })
    } else if (role !== 'other') isReply = false
    const isOrphan = answers.some((id) => !takeAnswerOf(round.open, id))
    if (isOrphan) {
      standIns.add(items.length)
      items.push({ kind: 'made', json: standInFor(source.text(message.start, message.end)) })
      repairs.orphans += 1
      round.isBroken = true
      yield
    } else items.push({ kind: 'kept', index })
    if (role === 'assistant' || (role === 'tool' && !isOrphan)) round.end = items.length
  }
  // An open round is answered by the client's next request.
  if (round.isBroken || round.end < items.length) yield* closeRound()
  return Object.values(repairs).some((count) => count > 0) ? { items, standIns, repairs } : null
}

// --- internal ---

type Round = {
  readonly open: UnansweredIds
  readonly calls: { readonly index: number; readonly id: string }[]
  /** Behind the last of its items. */
  end: number
  /** An output in it answers none of its calls. */
  isBroken: boolean
}

function openRound(): Round {
  return { open: new Map(), calls: [], end: 0, isBroken: false }
}

/** The output of a call that has none; nothing for a call that takes more than words to be answered. */
function missingOutputs(source: Source, call: Message | undefined): ViewItem[] {
  if (call === undefined) return []
  const form = readable(source, call)
  const item = parseJson(form.source, form.message)
  if (!isJsonObject(item)) return []
  const output = missingOutput(item)
  return output === null ? [] : [{ kind: 'made', json: JSON.stringify(output) }]
}

function missingOutput(call: JsonObject): JsonObject | null {
  const named = { call_id: callIdOf(call) }
  switch (call['type']) {
    case 'function_call':
      return { type: 'function_call_output', ...named, output: NO_RESULT }
    case 'custom_tool_call':
      return { type: 'custom_tool_call_output', ...named, output: NO_RESULT }
    case 'local_shell_call':
      return { type: 'local_shell_call_output', ...named, output: NO_RESULT }
    case 'apply_patch_call':
      return { type: 'apply_patch_call_output', ...named, status: 'failed', output: NO_RESULT }
    case 'shell_call': {
      const outcome = { type: 'exit', exit_code: 1 }
      return { type: 'shell_call_output', ...named, output: [{ stdout: '', stderr: NO_RESULT, outcome }] }
    }
    default:
      return null
  }
}

/** What a user says in the place of an output that answers no call. Its parts stay as they are, media among them. */
function standInFor(json: string): string {
  const parsed = parseJsonText(json)
  const item = isJsonObject(parsed) ? parsed : {}
  const pictures = picturesBeside(item)
  const output = pictures.length > 0 ? pictures : saidIn('result', item)
  const mark = { type: 'input_text', text: orphanMark('unknown', '') }
  const said: readonly unknown[] = Array.isArray(output)
    ? output
    : [{ type: 'input_text', text: stringOr(output, stringifyJson(output) ?? '') }]
  return JSON.stringify({ type: 'message', role: 'user', content: [mark, ...said] })
}
