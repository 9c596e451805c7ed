import { setTimeout } from 'node:timers/promises'
import type { Running } from '../../support/run-command.ts'

/** Waits until a program has said it. Rejects with all that it said where it does not, or ends before. */
export async function untilSaid(running: Running, wanted: RegExp): Promise<string> {
  let isOver = false
  void running.ended.then(() => {
    isOver = true
  })
  for (const beganMs = performance.now(); performance.now() - beganMs < WAIT_MS_MAX;) {
    if (wanted.test(running.output())) return running.output()
    // What it said last is read before it is given up.
    if (isOver) break
    await setTimeout(10)
  }
  if (wanted.test(running.output())) return running.output()
  throw new Error(`it did not say ${wanted}:\n${running.output()}`)
}

/** Ends a program that was started with a process group of its own, and whatever it has started. */
export async function endGroup({ child, ended }: Running): Promise<void> {
  try {
    process.kill(-(child.pid ?? 0), 'SIGKILL')
  } catch (error) {
    // All of it has ended by itself.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
  await ended
}

// --- internal ---

const WAIT_MS_MAX = 30_000
