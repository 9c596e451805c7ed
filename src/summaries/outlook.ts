import type { FailureReason } from './failure.ts'

/** Why a summary is not there: it failed, or a request waited for it in vain. */
export type MissingReason = FailureReason | 'not-in-time'

/** How things stand with the summary that a conversation will need next. */
export type SummaryOutlook = {
  readonly state: 'none' | 'pending' | 'ready'
  /** Why one that was wanted is not there. */
  readonly reason: MissingReason | null
  /** Asks for what is missing, once the upstream has accepted the request; null if nothing is. Never throws. */
  readonly begin: (() => void) | null
}

export const noOutlook: SummaryOutlook = { state: 'none', reason: null, begin: null }
