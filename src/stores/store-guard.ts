import { NoAnswerError, within } from './within.ts'
import type { Failures } from '../activity/failures.ts'

/**
 * Does something with the store; `instead` where that fails. Whatever fails there is kept away from requests (P2): they
 * go on as if nothing were kept. Shared by all that use one store, so that an absent one is waited for once.
 */
export type StoreGuard = <Result>(instead: Result, work: () => Promise<Result>) => Promise<Result>

export function createStoreGuard(failures: Pick<Failures, 'note'>): StoreGuard {
  let absentUntilMs = 0
  let failedInARow = 0

  function noteFailure(missed: boolean, heldMs: number): void {
    failedInARow += 1
    const pauseMs = missed ? ABSENCE_MS_MAX : Math.max(pauseForHeld(heldMs), pauseAfter(failedInARow))
    absentUntilMs = Math.max(absentUntilMs, performance.now() + pauseMs)
  }

  return async function guarded(instead, work) {
    const beganMs = performance.now()
    if (beganMs < absentUntilMs) return instead
    let isLate = false
    let heldMs = 0
    try {
      const working = work()
      heldMs = performance.now() - beganMs
      const result = await within(STORE_DEADLINE_MS, working, () => {
        isLate = true
        return new NoAnswerError('the store did not answer in time')
      })
      failedInARow = 0
      return result
    } catch (error) {
      // A store that gives up a command by itself has answered, and may be there for the next.
      noteFailure(isLate, heldMs)
      failures.note('store', error)
      return instead
    }
  }
}

// --- internal ---

/** A store that takes longer is as good as absent, in milliseconds. */
const STORE_DEADLINE_MS = 1_000

/** How long a store is left alone at most, in milliseconds. */
const ABSENCE_MS_MAX = 10_000

/** A failure that held the event loop for so long, as SQLite's do, was waited for by all requests; in milliseconds. */
const HELD_MS = 100

/** Such failures take this share of the time at most, whatever succeeds in between. */
const HELD_SHARE = 0.05

function pauseForHeld(heldMs: number): number {
  return heldMs < HELD_MS ? 0 : Math.min(ABSENCE_MS_MAX, heldMs / HELD_SHARE)
}

/** One failure may pass at once. From the second in a row on it is left alone for so long, and twice as long each time. */
const PAUSE_MS = 250

function pauseAfter(failedInARow: number): number {
  if (failedInARow < 2) return 0
  return Math.min(ABSENCE_MS_MAX, PAUSE_MS * 2 ** Math.min(failedInARow - 2, 10))
}
