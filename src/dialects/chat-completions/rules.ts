import { takeAnswerOf, unansweredIdsOf } from '../../conversation/call-ids.ts'
import type { UnansweredIds } from '../../conversation/call-ids.ts'
import type { Steps } from '../../conversation/source.ts'
import type { EntryShape, Template, Violation } from '../contract.ts'
import { templateViolations, violation, type Speech } from '../template-rules.ts'

/** Where a conversation breaks the rules, ascending. Calls without ids are matched by count. */
export function* violationsOf(
  messages: readonly EntryShape[],
  template: Template,
): Steps<readonly Violation[]> {
  const violations = messages.flatMap(emptyCallsAt)
  yield
  for (const found of yield* roundViolations(messages)) violations.push(found)
  if (template === 'strict') {
    for (const found of templateViolations(messages.map(speechOf), 'messages')) violations.push(found)
  }
  return violations.sort((one, other) => one.index - other.index)
}

// --- internal ---

function speechOf({ role, callIds }: EntryShape, index: number): Speech {
  return { index, role, isCall: callIds.length > 0 }
}

type Round = { readonly index: number; readonly unanswered: UnansweredIds }

function emptyCallsAt({ emptyCalls }: EntryShape, index: number): Violation[] {
  if (!emptyCalls) return []
  return [violation(index, 'calls-emptied', `Invalid 'messages[${index}].tool_calls': the list is empty.`)]
}

/** Messages between two pauses: about a millisecond. */
const MESSAGES_PER_STEP = 1_024

function* roundViolations(messages: readonly EntryShape[]): Steps<readonly Violation[]> {
  const violations: Violation[] = []
  let round: Round | null = null
  for (const [index, { role, callIds, answers }] of messages.entries()) {
    if (index % MESSAGES_PER_STEP === MESSAGES_PER_STEP - 1) yield
    if (role === 'tool') {
      if (round === null || !takeAnswerOf(round.unanswered, answers[0] ?? ''))
        violations.push(orphanAt(index))
      continue
    }
    for (const unanswered of unansweredIn(round)) violations.push(unanswered)
    round =
      role === 'assistant' && callIds.length > 0 ? { index, unanswered: unansweredIdsOf(callIds) } : null
  }
  for (const unanswered of unansweredIn(round)) violations.push(unanswered)
  return violations
}

function orphanAt(index: number): Violation {
  const text = `'messages[${index}]' has role 'tool' but answers no call of the assistant message before it.`
  return violation(index, 'result-orphaned', text)
}

function unansweredIn(round: Round | null): readonly Violation[] {
  const waiting = round === null ? [] : [...round.unanswered].filter(([, count]) => count > 0)
  if (round === null || waiting.length === 0) return []
  const ids = waiting.map(([id]) => (id === '' ? '(no id)' : id)).join(', ')
  const text = `The tool calls of 'messages[${round.index}]' must each be answered by a tool message right after it. Without an answer: ${ids}`
  return [violation(round.index, 'call-unanswered', text)]
}
