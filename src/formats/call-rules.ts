import { addUnanswered, takeAnswered, takeAnswerOf, type UnansweredIds } from '../conversation/structure.ts'
import type { Pausable } from '../json/source.ts'
import type { EntryShape, PairingRules, Violation } from './contract.ts'

/** A reply, and what follows it up to the next one. What stands before the first reply is one without calls. */
export type Round = {
  readonly start: number
  /** Behind the last entry of the reply, and of the round. */
  readonly replyEnd: number
  readonly end: number
  /** Results that answer its calls, ascending. */
  readonly results: readonly number[]
  /** Results that answer none of its calls, ascending. */
  readonly orphans: readonly number[]
  /** Calls without a result, in their order. */
  readonly missing: readonly RoundCall[]
}

/** A call: the entry that makes it, and which of that one's calls it is. */
export type RoundCall = { readonly index: number; readonly position: number; readonly id: string }

/** Where a conversation breaks these rules, ascending. */
export function* callViolations(
  entries: readonly EntryShape[],
  rules: PairingRules,
): Pausable<readonly Violation[]> {
  const violations: Violation[] = []
  for (const [index, { emptyCalls }] of entries.entries())
    if (emptyCalls) violations.push({ index, rule: 'calls-emptied' })
  let looked = 0
  for (let start = 0; start < entries.length;) {
    const { orphans, missing, end } = readRound(entries, start, rules)
    for (const { index } of missing) violations.push({ index, rule: 'call-unanswered' })
    for (const index of orphans) violations.push({ index, rule: 'result-orphaned' })
    looked += end - start
    start = end
    if (looked < ENTRIES_PER_STEP) continue
    looked = 0
    yield
  }
  return violations.sort((one, other) => one.index - other.index)
}

/** The round that begins at `start`. Results are matched by id; one without an id may answer any call that has none either. */
export function readRound(
  entries: readonly EntryShape[],
  start: number,
  { entryIsReply, mayInterrupt }: PairingRules,
): Round {
  const open: UnansweredIds = new Map()
  const calls: RoundCall[] = []
  const results: number[] = []
  const orphans: number[] = []
  let isReply = entries[start]?.role === 'assistant'
  let isInterrupted = false
  let replyEnd = start
  let end = start
  for (; end < entries.length; end += 1) {
    const { role = 'other', callIds = [], answers = [] } = entries[end] ?? {}
    if (role === 'assistant') {
      if (!isReply || (entryIsReply && end > start)) break
      replyEnd = end + 1
      addUnanswered(open, callIds)
      for (const [position, id] of callIds.entries()) calls.push({ index: end, position, id })
      continue
    }
    if (role !== 'other') isReply = false
    if (role !== 'tool' && !mayInterrupt) isInterrupted = true
    if (answers.length === 0) continue
    if (!isInterrupted && answers.every((id) => takeAnswerOf(open, id))) results.push(end)
    else orphans.push(end)
  }
  // Of several calls under one id the first ones are taken to be answered.
  const missing = calls.toReversed().filter(({ id }) => takeAnswered(open, id))
  return { start, replyEnd, end, results, orphans, missing: missing.toReversed() }
}

// --- internal ---

/** Entries between two pauses: about a millisecond. */
const ENTRIES_PER_STEP = 1_024
