import type { Message } from '../../conversation/message.ts'
import type { PassName, Policy } from '../policy.ts'
import type { Compaction } from '../compaction.ts'
import type { Subject } from '../subject.ts'
import type { ViewMessage } from './view-message.ts'

/**
 * A view between the leading system block and its compaction's point, before any placement. It holds as long as the compaction does:
 * what lies before a compaction's point is never treated otherwise on account of what follows it (P5, P6).
 */
export type CarriedView = {
  readonly messages: readonly ViewMessage[]
  readonly passes: readonly PassName[]
  readonly standIns: { readonly summaries: number; readonly recaps: number }
}

/** What was carried over for a subject that stands in `compaction`, from itself or from the conversation that it grew from. */
export function carriedView(subject: Subject, policy: Policy, compaction: Compaction): CarriedView | null {
  const own = valid(known.get(subject.messages), subject, policy, compaction)
  if (own !== null) return own
  const { grewFrom } = subject
  if (grewFrom === null || grewFrom.shared < compaction.point) return null
  return valid(known.get(grewFrom.messages), subject, policy, compaction)
}

/** Leaves a view for the next request that goes on from this one. */
export function carryView(subject: Subject, policy: Policy, compaction: Compaction, view: CarriedView): void {
  known.set(subject.messages, { view, compaction, policy, memorySpace: subject.memorySpace })
}

// --- internal ---

type Known = {
  readonly view: CarriedView
  readonly compaction: Compaction
  readonly policy: Policy
  readonly memorySpace: string
}

/** By the messages of a body: it is kept as long as that is, to be found again. */
const known = new WeakMap<readonly Message[], Known>()

function valid(
  entry: Known | undefined,
  subject: Subject,
  policy: Policy,
  compaction: Compaction,
): CarriedView | null {
  if (entry === undefined || entry.compaction !== compaction || entry.policy !== policy) return null
  return entry.memorySpace === subject.memorySpace ? entry.view : null
}
