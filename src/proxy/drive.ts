import { setImmediate } from 'node:timers/promises'
import type { Steps } from '../conversation/source.ts'

/** How long work may keep the event loop before other requests get their turn, in milliseconds. */
const SLICE_MS = 8

/** Runs paused work to its end, letting other requests in between. */
export async function drive<Result>(steps: Steps<Result>): Promise<Result> {
  let startedMs = performance.now()
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
    if (performance.now() - startedMs > SLICE_MS) {
      await setImmediate()
      startedMs = performance.now()
    }
  }
}
