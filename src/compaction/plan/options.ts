import type { Compaction, CompactionReason, Fold } from '../compaction.ts'
import type { Room } from '../policy.ts'

export type PlanOptions = {
  readonly point: number
  readonly previous: Compaction | null
  readonly room: Room
  readonly reason: CompactionReason
  /** Whether the view before is known not to fit, whatever our count says. */
  readonly isBeyondBudget: boolean
  /** How many of the newest messages to pin; the profile's number, halved by each overflow. */
  readonly keepRecent: number
  /** As little as possible: the last attempt of a recovery. */
  readonly smallest: boolean
  /** Whether frontiers before an assistant message are preferred. */
  readonly strict: boolean
  /** A fold whose summaries are there: it is taken, and only what they do not reach goes into a recap. */
  readonly prepared: PreparedFold | null
  /**
   * Only planned, for when the trigger will be reached: what a summary may take at most then, in tokens. Null: a compaction
   * that is made now.
   */
  readonly plannedTokensMax: number | null
  /** What the view takes under the compaction before, up to `point`, beside what surrounds it; null: as it was planned. */
  readonly viewTokens: number | null
}

/** A fold that was planned ahead, with the summaries that were written for it. */
export type PreparedFold = Pick<Fold, 'frontier' | 'kept' | 'summaries'>
