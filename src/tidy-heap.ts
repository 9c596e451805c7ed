import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

export type HeapTidying = {
  /** Many large bodies are held at a time. */
  readonly crowded: () => void
  /** So many bytes of bodies were held, and nothing of them is any more. */
  readonly over: (bytes: number) => void
}

export type HeapTidyingOptions = {
  /** How long nothing has to have been held before garbage is collected, in milliseconds. Default 2,000. */
  readonly quietMs?: number
}

/**
 * Keeps the process small under a load of long conversations, and lets it become small again. V8 by itself lets a heap
 * grow to several times what lives in it before it collects again, which is the quickest where memory is for the asking;
 * and it collects when something is allocated, so that of a process with nothing to do the garbage of its busiest minute
 * stays in memory until the next one.
 */
export function createHeapTidying({ quietMs = QUIET_MS }: HeapTidyingOptions = {}): HeapTidying {
  let isLimited = false
  let bytesSince = 0
  let timer: NodeJS.Timeout | null = null

  function limitGrowth(percent: number): void {
    setFlagsFromString(`--heap-growing-percent=${percent}`)
    isLimited = percent !== AS_V8_LIKES
  }

  return {
    crowded: () => {
      if (!isLimited) limitGrowth(CROWDED_GROWTH_PERCENT)
    },
    over: (bytes) => {
      if (isLimited) limitGrowth(AS_V8_LIKES)
      bytesSince += bytes
      if (bytesSince < TIDY_BYTES) return
      // A load that goes on moves it, the small requests that always come do not.
      if (timer !== null && bytes < LARGE_BYTES) return
      if (timer !== null) clearTimeout(timer)
      timer = setTimeout(() => {
        timer = null
        bytesSince = 0
        collectGarbage()
      }, quietMs).unref()
    },
  }
}

// --- internal ---

/** By how much of what lives the heap may grow before it is collected, while many bodies are held. */
const CROWDED_GROWTH_PERCENT = 30

const AS_V8_LIKES = 0

/** Less is no load. */
const TIDY_BYTES = 64 * 1024 * 1024

const LARGE_BYTES = 1024 * 1024

const QUIET_MS = 2_000

/** As long as it takes to mark what lives: some tens of milliseconds. Twice: the first frees pages, the second gives them back. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect !== 'function') return
  collect()
  setImmediate(() => void collect())
}
