import type { JsonObject } from '../../../conversation/json-value.ts'
import type { CallRules } from '../../answer-contract.ts'
import { isThought, isToolUse } from './blocks.ts'
import type { CallCounts } from './joined-message.ts'
import { isOurToolUse } from './reply.ts'

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
