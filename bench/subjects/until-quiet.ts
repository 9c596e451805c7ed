import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'

/** Resolves once a process has had next to nothing to do for a while, or after a quarter of a second. Linux only. */
export async function untilQuiet(pid: number): Promise<void> {
  let before = runMicroseconds(pid)
  for (let calm = 0, looks = 0; calm < CALM_LOOKS && looks < LOOKS_MAX; looks += 1) {
    await wait(LOOK_MS)
    const now = runMicroseconds(pid)
    calm = Math.abs(now - before) < CALM_MICROSECONDS ? calm + 1 : 0
    before = now
  }
}

// --- internal ---

const LOOK_MS = 10
const LOOKS_MAX = 25
/** So many looks one after the other have to find it calm: a timer of its own may be about to run out. */
const CALM_LOOKS = 2
const CALM_MICROSECONDS = 500

/** What the threads that it has now have run, finer than `cpuMicroseconds`: that counts in steps of 10 ms. */
function runMicroseconds(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`)
  const figures = threads.flatMap((thread) => runOf(`/proc/${pid}/task/${thread}/schedstat`) ?? [])
  if (figures.length === 0) throw new Error(`this kernel keeps no /proc/${pid}/task/*/schedstat`)
  return figures.reduce((sum, figure) => sum + figure, 0)
}

/** Null of a thread that has ended since it was listed. */
function runOf(file: string): number | null {
  try {
    return Number(readFileSync(file, 'utf8').split(' ')[0]) / 1000
  } catch {
    return null
  }
}
