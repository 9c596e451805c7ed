import type { LivedReceived } from './lived-subject.ts'

/** What became of a conversation's thoughts at one request. */
export type Losses = {
  /** Those that the model was shown at the request before, or that it has had there, and is not shown now. */
  readonly lost: number
  /** Of them, what was thought right after the compaction before: that compaction has cost thoughts twice. */
  readonly lostAtOnce: number
  /** Of them, what was lost before and had come back. */
  readonly lostTwice: number
  /** Those that were sent behind a prefix that they were not made on. */
  readonly sentDead: number
}

/** Follows the thoughts of one conversation from request to request. */
export type ThoughtWatch = {
  /** Takes what was received last for a request. */
  asked(received: Pick<LivedReceived, 'thoughts' | 'deadThoughts'>, isCompaction: boolean): Losses
  /** Takes the names of the thoughts in its reply. */
  replied(names: readonly string[]): void
}

export function watchThoughts(): ThoughtWatch {
  let alive = new Set<string>()
  let madeAtCompaction: ReadonlySet<string> = new Set()
  let wasCompaction = false
  const lostOnce = new Set<string>()
  return {
    asked({ thoughts, deadThoughts }, isCompaction) {
      const shown = new Set(thoughts)
      const lost = [...alive].filter((name) => !shown.has(name))
      const losses = {
        lost: lost.length,
        lostAtOnce: lost.filter((name) => madeAtCompaction.has(name)).length,
        lostTwice: lost.filter((name) => lostOnce.has(name)).length,
        sentDead: deadThoughts,
      }
      for (const name of lost) lostOnce.add(name)
      alive = shown
      wasCompaction = isCompaction
      return losses
    },
    replied(names) {
      for (const name of names) alive.add(name)
      madeAtCompaction = new Set(wasCompaction ? names : [])
    },
  }
}
