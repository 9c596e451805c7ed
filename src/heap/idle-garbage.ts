import { getHeapStatistics } from 'node:v8'
import { collectGarbage } from './collect-garbage.ts'

/** What a process has to do. */
export type Work = {
  /** How many requests are running. */
  readonly running: () => number
  /** How many have begun since the start. */
  readonly begun: () => number
}

/**
 * Has everything collected once nobody has been served for a while, if that is worth it: V8 by itself keeps the garbage of
 * the start, and of the last requests, until it needs the room. Returns what ends this.
 */
export function collectWhenIdle(work: Work, { startMs, lookMs } = usualTimes): () => void {
  let begun = 0
  /** What the heap held after the last time; 0: there was none. */
  let keptBytes = 0

  function look(): void {
    const isIdle = work.running() === 0 && work.begun() === begun
    begun = work.begun()
    if (isIdle && heapBytes() >= keptBytes + WORTH_BYTES) {
      collectGarbage('all')
      keptBytes = heapBytes()
    }
    timer = setTimeout(look, lookMs).unref()
  }

  let timer = setTimeout(look, startMs).unref()
  return () => clearTimeout(timer)
}

// --- internal ---

/**
 * In milliseconds. The first look comes early: what the start leaves behind is most of what an idle process would hold.
 * From then on one idle look has to follow the last request, 30 to 60 s after it: with the garbage goes what code was compiled
 * for, and requests after a pause as short as between two turns of an agent would pay for that.
 */
const usualTimes = { startMs: 2_000, lookMs: 30_000 }

/** Less garbage than this is not worth holding the event loop for. */
const WORTH_BYTES = 16 * 1024 * 1024

function heapBytes(): number {
  const { total_physical_size, external_memory } = getHeapStatistics()
  return total_physical_size + external_memory
}
