import { addUnanswered, takeAnswered, takeAnswerOf, type UnansweredIds } from '../../conversation/call-ids.ts'
import type { Steps } from '../../conversation/source.ts'
import type { EntryShape, Template, Violation } from '../contract.ts'
import { speechesOf, templateViolations, violation } from '../template-rules.ts'

/**
 * Where a history breaks the rules, ascending. The calls of a reply are answered right behind it, before anything else is said.
 */
export function* blockViolations(
  blocks: readonly EntryShape[],
  template: Template,
): Steps<readonly Violation[]> {
  const violations: Violation[] = []
  const open: UnansweredIds = new Map()
  let calls: { readonly index: number; readonly id: string }[] = []
  let isReply = false

  function closeRound(): void {
    for (const { index, id } of calls) if (takeAnswered(open, id)) violations.push(unanswered(index, id))
    calls = []
    open.clear()
  }

  for (const [index, { role, callIds, answers }] of blocks.entries()) {
    if (index % BLOCKS_PER_STEP === BLOCKS_PER_STEP - 1) yield
    const isResult = role === 'tool'
    if (role === 'assistant') {
      if (!isReply) closeRound()
      addUnanswered(open, callIds)
      for (const id of callIds) calls.push({ index, id })
    } else if (!isResult) closeRound()
    isReply = role === 'assistant'
    for (const id of answers) if (!takeAnswerOf(open, id)) violations.push(orphan(index, id))
  }
  closeRound()
  yield
  if (template === 'strict')
    for (const found of templateViolations(speechesOf(blocks), 'messages')) violations.push(found)
  return violations.sort((one, other) => one.index - other.index)
}

// --- internal ---

/** Blocks between two pauses: about a millisecond. */
const BLOCKS_PER_STEP = 1_024

function unanswered(index: number, id: string): Violation {
  return violation(
    index,
    'call-unanswered',
    `Block ${index}: no result of the call ${id} stands right behind its reply.`,
  )
}

function orphan(index: number, id: string): Violation {
  return violation(
    index,
    'result-orphaned',
    `Block ${index}: the result of ${id} answers no call of the reply right before it.`,
  )
}
