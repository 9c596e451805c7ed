import { onTestFinished, vi } from 'vitest'

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
