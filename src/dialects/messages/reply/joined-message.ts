import type { CallRules } from '../../answer-contract.ts'
import type { JsonObject } from '../../../conversation/json-value.ts'
import { isThought, isToolUse } from './blocks.ts'
import { isOurToolUse } from './reply.ts'

/** How many calls are in an answer, of Foldgate's tool and of the client's. */
export type CallCounts = { readonly ours: number; readonly clients: number }

/**
 * Whether a call of the client's in whose middle an answer was cut is left out: if others are there, which a client can only
 * make beside none that is not whole.
 */
export function dropsCutToolUse({ clients }: CallCounts, isCut: boolean, { continues }: CallRules): boolean {
  return continues && isCut && clients > 1
}

/** Why a reply ends, as the client is told: of calls that it does not see nothing is said. */
export function shownStopReason({ ours, clients }: CallCounts, reason: unknown, drops: boolean): unknown {
  if (drops) return 'tool_use'
  return ours > 0 && clients === 0 && reason === 'tool_use' ? 'end_turn' : reason
}

/** Decides which blocks of one answer the client gets to see. */
export type BlockGate = {
  /** Takes the next block, as it begins; whether it is shown. */
  readonly take: (block: JsonObject) => boolean
  /** The calls among those that were taken. */
  readonly counts: () => CallCounts
}

/**
 * Calls of Foldgate's tool are never shown. A server binds thoughts to all that was sent before them, and the client will send
 * back what it got: thoughts of an answer that went on behind a recall or a cut, or that stand behind a hidden call, were made
 * behind something that the client will not send, and are hidden, too. Those before it are shown whatever they led to: what
 * stands before them stays, and some models want a turn that calls tools to begin with thoughts.
 */
export function createBlockGate(rules: CallRules, isFurther: boolean): BlockGate {
  let [ours, clients] = [0, 0]
  return {
    take: (block) => {
      if (isOurToolUse(block, rules)) {
        ours += 1
        return false
      }
      if (isToolUse(block)) clients += 1
      return !(isThought(block) && (isFurther || ours > 0))
    },
    counts: () => ({ ours, clients }),
  }
}
