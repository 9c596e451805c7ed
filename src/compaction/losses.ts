import type { Steps } from '../conversation/source.ts'
import { clipsByIndex, layoutOf } from './layout.ts'
import { createLedger } from './ledger.ts'
import type { MadeCache, MadeHow } from './made-cache.ts'
import type { Policy } from './policy.ts'
import type { Compaction } from './compaction.ts'
import type { Subject } from './subject.ts'
import { createTreatments } from './treatments.ts'

/**
 * The messages before its point that a compaction leaves out or shortens, ascending. What it only renders loses nothing: a
 * terminal would show the same.
 */
export function* lostMessages(
  subject: Subject,
  policy: Policy,
  cache: MadeCache,
  compaction: Compaction,
): Steps<readonly number[]> {
  const { systemCount } = subject.structure
  const treatments = createTreatments(subject, policy, cache)
  const ledger = createLedger(subject, policy, treatments)
  const clips = clipsByIndex(compaction.clips)
  const { task, kept, latestUser, tail } = layoutOf(compaction, systemCount)
  const pinned = new Set([task, ...kept, latestUser])
  const lost: number[] = []
  for (let index = systemCount; index < compaction.point; index += 1) {
    if ((index - systemCount) % MESSAGES_PER_STEP === MESSAGES_PER_STEP - 1) yield
    const isFolded = index < tail && !pinned.has(index)
    if (isFolded || (yield* isShortened(index))) lost.push(index)
  }
  return lost

  /** Asked for or not: a treatment that would not make a message smaller leaves it as it is. */
  function* isShortened(index: number): Steps<boolean> {
    const treatment = ledger.treatment(index, compaction.reach, clips)
    if (treatment.kind === 'kept' || treatment.kind === 'rendered') return false
    const { how } = yield* treatments.make(index, treatment)
    return how !== null && shortens[how]
  }
}

// --- internal ---

/** Messages that are looked at between two pauses: well under a millisecond. */
const MESSAGES_PER_STEP = 1024

const shortens = {
  rendered: false,
  previewed: true,
  cleared: true,
  unloaded: true,
  clipped: true,
} as const satisfies Record<MadeHow, boolean>
