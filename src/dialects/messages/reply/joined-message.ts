import type { CallRules } from '../../answer-contract.ts'

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
