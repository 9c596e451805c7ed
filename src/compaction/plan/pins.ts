import type { Policy } from '../policy.ts'
import type { Compaction } from '../compaction.ts'
import type { Subject } from '../subject.ts'

/** The messages that a compaction at this point pins by what they are. */
export function pinsAt(subject: Subject, policy: Policy, point: number): Pins {
  const task = subject.structure.task
  return {
    task: policy.keep.task && task !== -1 && task < point ? task : -1,
    latestUser: subject.structure.latestUserBefore(point),
  }
}

export type Pins = Pick<Compaction, 'task' | 'latestUser'>

/** Tokens of the pinned messages, a message that is both counted once. */
export function pinnedTokens(subject: Subject, pins: Pins): number {
  const task = pins.task === -1 ? 0 : (subject.sizes[pins.task] ?? 0)
  const latest =
    pins.latestUser === -1 || pins.latestUser === pins.task ? 0 : (subject.sizes[pins.latestUser] ?? 0)
  return task + latest
}
