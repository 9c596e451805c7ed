import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { vi, onTestFinished } from 'vitest'

/**
 * Waits until `check` throws no more and gives back what it returns. Patient, as `expect.poll` is here: what comes at
 * once on an idle machine takes seconds on a busy one.
 */
export const eventually = <Result>(
  check: () => Result | Promise<Result>,
  options: { readonly interval?: number; readonly timeout?: number } = {},
): Promise<Result> => vi.waitFor(check, { timeout: 30_000, ...options })

/** Moves the process's own clock on, which nobody sets back; until the test is over. */
export function passingTime(): (milliseconds: number) => void {
  let aheadMs = 0
  const now = performance.now.bind(performance)
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + aheadMs)
  onTestFinished(() => clock.mockRestore())
  return (milliseconds) => {
    aheadMs += milliseconds
  }
}

/** Whether nothing keeps this in memory any more, within a second. */
export async function isCollected(left: WeakRef<object>): Promise<boolean> {
  for (let looks = 0; looks < 20; looks += 1) {
    collectGarbage()
    // Whoever looks keeps it for as long as the look takes.
    if (left.deref() === undefined) return true
    await sleep(50)
  }
  return false
}

/** Has everything collected that nothing keeps in memory any more. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect !== 'function') throw new Error('garbage cannot be collected here')
  collect()
}
