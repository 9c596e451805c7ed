import { addUnanswered, takeAnswered, takeAnswerOf, type UnansweredIds } from '../../conversation/call-ids.ts'
import type { Steps } from '../../conversation/source.ts'
import type { EntryShape, Template, Violation } from '../contract.ts'
import { speechesOf, templateViolations, violation } from '../template-rules.ts'

/**
 * Where an input breaks the rules, ascending. A call is answered behind the reply that makes it and before the next one; what a
 * user says meanwhile may stand between.
 */
export function* itemViolations(
  items: readonly EntryShape[],
  template: Template,
): Steps<readonly Violation[]> {
  const violations: Violation[] = []
  const open: UnansweredIds = new Map()
  let calls: { readonly index: number; readonly ids: readonly string[] }[] = []
  let isReply = false

  function closeRound(): void {
    for (const { index, ids } of calls)
      for (const id of ids) if (takeAnswered(open, id)) violations.push(unanswered(index, id))
    calls = []
    open.clear()
  }

  for (const [index, { role, callIds, answers }] of items.entries()) {
    if (index % ITEMS_PER_STEP === ITEMS_PER_STEP - 1) yield
    if (role === 'assistant') {
      if (!isReply) closeRound()
      isReply = true
      addUnanswered(open, callIds)
      if (callIds.length > 0) calls.push({ index, ids: callIds })
    } else if (role !== 'other') isReply = false
    for (const id of answers) if (!takeAnswerOf(open, id)) violations.push(orphan(index, id))
  }
  closeRound()
  yield
  if (template === 'strict')
    for (const found of templateViolations(speechesOf(items), 'input')) violations.push(found)
  return violations.sort((one, other) => one.index - other.index)
}

// --- internal ---

/** Items between two pauses: about a millisecond. */
const ITEMS_PER_STEP = 1_024

function unanswered(index: number, id: string): Violation {
  return violation(index, 'call-unanswered', `No tool output found for the call ${id} at 'input[${index}]'.`)
}

function orphan(index: number, id: string): Violation {
  return violation(
    index,
    'result-orphaned',
    `No tool call found for the output with call_id ${id} at 'input[${index}]'.`,
  )
}
