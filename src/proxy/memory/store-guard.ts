import type { Failures } from '../failures.ts'

/**
 * Does something with the store; `instead` where that fails. Whatever fails there is kept away from requests (P2): they
 * go on as if nothing were kept. Shared by all that use one store, so that an absent one is waited for once.
 */
export type StoreGuard = <Result>(instead: Result, work: () => Promise<Result>) => Promise<Result>

export function createStoreGuard(failures: Failures): StoreGuard {
  let absentUntilMs = 0

  return async function guarded(instead, work) {
    if (performance.now() < absentUntilMs) return instead
    return failures.around('store', instead, () =>
      withDeadline(work(), () => {
        absentUntilMs = performance.now() + STORE_ABSENCE_MS
      }),
    )
  }
}

// --- internal ---

/** A store that takes longer is as good as absent, in milliseconds. */
const STORE_DEADLINE_MS = 1_000

/** How long a store that did not answer is left alone, in milliseconds: else every request would wait for it. */
const STORE_ABSENCE_MS = 10_000

function withDeadline<Result>(work: Promise<Result>, onMissed: () => void): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      onMissed()
      reject(new Error('the store did not answer in time'))
    }, STORE_DEADLINE_MS)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
