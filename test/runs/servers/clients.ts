import { newestSuffix, roundsOf, type PolicyInput, type Round } from '../fidelity/policies.ts'
import type { RawMessage } from '../harness/recordings.ts'

/** What a client that compacts by itself sends of its conversation; it may remember what it did before. */
export type CompactingClient = (input: PolicyInput) => readonly RawMessage[]

/** At every request the newest that fits: nothing is remembered, and from the first cut on each prompt begins anew. */
export function slidingWindow(): CompactingClient {
  return newestSuffix
}

/**
 * Behind the system message and the task, the older half of the rest goes for good when it does not fit any more. What
 * is left grows at its end until then, so that the server's cache has it.
 */
export function dropHalfWhenFull(): CompactingClient {
  let droppedRounds = 0
  return function sendRest({ messages, budgetTokens, sizeOf }) {
    const head = messages.slice(0, HEAD_MESSAGES)
    const rounds = roundsOf(messages.slice(HEAD_MESSAGES))
    const sizeOfAll = (kept: readonly Round[]) =>
      kept.flat().reduce((sum, message) => sum + sizeOf(message), 0)
    const roomTokens = budgetTokens - sizeOfAll([head])
    if (sizeOfAll(rounds.slice(droppedRounds)) > roomTokens) {
      const half = roomTokens / 2
      while (droppedRounds < rounds.length - 1 && sizeOfAll(rounds.slice(droppedRounds)) > half)
        droppedRounds += 1
    }
    return [...head, ...rounds.slice(droppedRounds).flat()]
  }
}

// --- internal ---

/** A system message and a task. */
const HEAD_MESSAGES = 2
