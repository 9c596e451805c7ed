import type { Steps } from '../../conversation/source.ts'
import { plannedTokens } from '../layout.ts'
import type { Ledger } from '../ledger.ts'
import type { Policy } from '../policy.ts'
import type { Fold, Reach, Compaction } from '../compaction.ts'
import type { Subject } from '../subject.ts'
import type { FoldAt } from './fold-at.ts'
import type { PlanFrame } from './frame.ts'
import type { PlanOptions } from './options.ts'

/** What a compaction is planned with, from beginning to end. */
export type Plan = {
  readonly subject: Subject
  readonly ledger: Ledger
  readonly policy: Policy
  readonly options: PlanOptions
  readonly frame: PlanFrame
  readonly foldAt: FoldAt
  readonly clips: Compaction['clips']
  /** Where the newest messages begin that no pass touches and no fold reaches. */
  readonly protectedFrom: number
  /** What a recap may take, in tokens. */
  readonly recapTokensMax: number
}

/** How far it has come. */
export type Draft = {
  readonly reach: Reach
  readonly fold: Fold | null
  /** What its view weighs, what surrounds it included. */
  readonly tokens: number
}

/** What a view comes to that has come so far. */
export function* weighed(plan: Plan, { reach, fold }: Omit<Draft, 'tokens'>): Steps<Draft> {
  const { subject, ledger, options, frame, clips } = plan
  const { systemCount } = subject.structure
  const planned = { ...frame.pins, fold, clips, reach }
  const tokens =
    options.room.aroundTokens + (yield* plannedTokens(ledger, planned, systemCount, options.point))
  return { reach, fold, tokens }
}
