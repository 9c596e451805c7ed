import type { Eventual } from '../scheduling/drive.ts'
import { NoAnswerError, within } from './store-error.ts'
import type { Failures } from '../telemetry/failures.ts'

/**
 * Does something with the store; resolves with `instead` if that fails or takes too long. A broken store fails no request
 * (P2): it goes on as if nothing were kept. All that requests look up shares one guard, so that an absent store is waited for once.
 */
export type StoreGuard = <Result>(instead: Result, work: () => Eventual<Result>) => Eventual<Result>

export function createStoreGuard(failures: Pick<Failures, 'note'>): StoreGuard {
  let absentUntilMs = 0
  let failedInARow = 0

  function noteFailure(isMissed: boolean, heldMs: number): void {
    failedInARow += 1
    const pauseMs = isMissed ? ABSENCE_MS_MAX : Math.max(pauseForHeld(heldMs), pauseAfter(failedInARow))
    absentUntilMs = Math.max(absentUntilMs, performance.now() + pauseMs)
  }

  return function guarded(instead, work) {
    const beganMs = performance.now()
    if (beganMs < absentUntilMs) return instead
    let heldMs = 0

    function failed(error: unknown): typeof instead {
      // A store that rejects a command has answered, and may be there for the next one; a connection with a deadline of
      // its own says that it has not.
      noteFailure(error instanceof NoAnswerError, heldMs)
      failures.note('store', error)
      return instead
    }
    function done(result: typeof instead): typeof instead {
      failedInARow = 0
      return result
    }
    try {
      const working = work()
      heldMs = performance.now() - beganMs
      if (working instanceof Promise) return within(STORE_DEADLINE_MS, working).then(done, failed)
      return done(working)
    } catch (error) {
      heldMs = performance.now() - beganMs
      return failed(error)
    }
  }
}

/** How long a store is left alone after a failure that blocked the event loop for so long, as SQLite's do; in milliseconds. */
export function pauseForHeld(heldMs: number): number {
  return heldMs < HELD_MS ? 0 : Math.min(ABSENCE_MS_MAX, heldMs / HELD_SHARE)
}

// --- internal ---

/** Less than this, in milliseconds, is no holding up. */
const HELD_MS = 100

/** Failures that hold up all requests may take this share of the time at most, even if the store answers in between. */
const HELD_SHARE = 0.05

/** How long the store may take for one operation, in milliseconds. */
const STORE_DEADLINE_MS = 1_000

/** How long a store is left alone at most, in milliseconds. */
const ABSENCE_MS_MAX = 10_000

/** After the second failure in a row the store is left alone for so long, and twice as long after each further one. */
const PAUSE_MS = 250

function pauseAfter(failedInARow: number): number {
  if (failedInARow < 2) return 0
  return Math.min(ABSENCE_MS_MAX, PAUSE_MS * 2 ** Math.min(failedInARow - 2, 10))
}
