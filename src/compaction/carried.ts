import type { Message } from '../conversation/message.ts'
import type { PassName, Policy, Room } from './policy.ts'
import type { Stride } from './stride.ts'
import type { Subject } from './subject.ts'
import type { ViewMessage } from './view.ts'

/**
 * What an earlier request found out about the stride that its conversation stands in. It holds as long as the stride
 * does: what lies before a stride's point is never treated otherwise on account of what follows it (P5, P6).
 */
export type Carried = {
  /** The request points up to which no further stride was due, and what the view weighs there. */
  readonly walk: {
    readonly nominal: Room
    readonly strict: boolean
    readonly point: number
    readonly tokens: number
  } | null
  /** The view between the leading system block and the stride's point, before any placement. */
  readonly view: {
    readonly areNamed: boolean
    readonly messages: readonly ViewMessage[]
    readonly passes: readonly PassName[]
    readonly standIns: { readonly summaries: number; readonly recaps: number }
  } | null
}

/** What was carried over for a subject that stands in `stride`, from itself or from the conversation that it grew from. */
export function carriedTo(subject: Subject, policy: Policy, stride: Stride): Carried {
  const own = valid(known.get(subject.messages), subject, policy, stride)
  if (own !== null) return own
  const { grewFrom } = subject
  if (grewFrom === null || grewFrom.shared < stride.point) return nothing
  const earlier = valid(known.get(grewFrom.messages), subject, policy, stride)
  if (earlier === null) return nothing
  const isWithin = earlier.walk !== null && earlier.walk.point <= grewFrom.shared
  return { view: earlier.view, walk: isWithin ? earlier.walk : null }
}

/** Leaves something for the next request that goes on from this one. */
export function carryOn(subject: Subject, policy: Policy, stride: Stride, found: Partial<Carried>): void {
  const { memorySpace } = subject
  known.set(subject.messages, {
    ...carriedTo(subject, policy, stride),
    ...found,
    stride,
    policy,
    memorySpace,
  })
}

// --- internal ---

type Known = Carried & {
  readonly stride: Stride
  readonly policy: Policy
  readonly memorySpace: string
}

/** By the messages of a body: it is kept as long as that is, to be found again. */
const known = new WeakMap<readonly Message[], Known>()

const nothing: Carried = { walk: null, view: null }

function valid(entry: Known | undefined, subject: Subject, policy: Policy, stride: Stride): Known | null {
  if (entry === undefined || entry.stride !== stride || entry.policy !== policy) return null
  return entry.memorySpace === subject.memorySpace ? entry : null
}
