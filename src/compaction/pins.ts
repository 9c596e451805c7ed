import type { Ledger } from './ledger.ts'
import type { Policy } from './policy.ts'
import type { Stride } from './stride.ts'
import type { Subject } from './subject.ts'

/** The messages that a stride at this point pins by what they are. */
export function pinsAt(subject: Subject, policy: Policy, point: number): Pins {
  const task = subject.structure.task
  return {
    task: policy.keep.task && task !== -1 && task < point ? task : -1,
    latestUser: subject.structure.latestUserBefore(point),
  }
}

export type Pins = Pick<Stride, 'task' | 'latestUser'>

/** Tokens of the pinned messages, a message that is both counted once. */
export function pinnedTokens(subject: Subject, pins: Pins): number {
  const task = pins.task === -1 ? 0 : (subject.sizes[pins.task] ?? 0)
  const latest =
    pins.latestUser === -1 || pins.latestUser === pins.task ? 0 : (subject.sizes[pins.latestUser] ?? 0)
  return task + latest
}

export type ProtectedTail = {
  readonly point: number
  /** How many of the newest messages are meant to be kept. */
  readonly keepRecent: number
  /** The most that they may take beside the open round, in tokens. */
  readonly tokensMax: number
}

/**
 * Where the protected tail begins: the open round, and before it the newest messages in whole units, as
 * far as they take no more than their share of the room.
 */
export function protectedStart(subject: Subject, ledger: Ledger, pins: Pins, tail: ProtectedTail): number {
  const { structure } = subject
  let start = structure.lastUnitStart(tail.point)
  let tokens = 0
  while (start > structure.systemCount && tail.point - start < tail.keepRecent) {
    const unit = structure.unitStart(start - 1)
    for (let index = unit; index < start; index += 1) {
      if (index !== pins.task && index !== pins.latestUser) tokens += ledger.originalTokens(index, index + 1)
    }
    if (tokens > tail.tokensMax) break
    start = unit
  }
  return Math.max(start, structure.systemCount)
}
