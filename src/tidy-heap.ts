import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Lets the heap grow by half of what lives before it is collected again. V8 by itself lets it grow to several times
 * that, which is right where memory is for the asking; beside other containers it is not, and what conversations leave
 * behind is garbage within a second.
 */
export function limitHeapGrowth(): void {
  setFlagsFromString('--heap-growing-percent=50')
}

export type HeapTidying = {
  /** So many bytes of bodies were held, and nothing of them is any more. */
  readonly over: (bytes: number) => void
}

/**
 * Collects what a load has left behind once it is over: V8 collects when something is allocated, so that of a process
 * with nothing to do the bodies of its busiest minute stay in memory until the next one.
 */
export function createHeapTidying(): HeapTidying {
  let bytesSince = 0
  let timer: NodeJS.Timeout | null = null
  return {
    over: (bytes) => {
      bytesSince += bytes
      if (bytesSince < TIDY_BYTES) return
      // A load that goes on moves it, the small requests that always come do not.
      if (timer !== null && bytes < LARGE_BYTES) return
      if (timer !== null) clearTimeout(timer)
      timer = setTimeout(() => {
        timer = null
        bytesSince = 0
        collectGarbage()
      }, QUIET_MS).unref()
    },
  }
}

// --- internal ---

/** Less is no load. */
const TIDY_BYTES = 64 * 1024 * 1024

const LARGE_BYTES = 1024 * 1024

/** How long nothing was held before garbage is collected, in milliseconds. */
const QUIET_MS = 2_000

/** As long as it takes to mark what lives: some tens of milliseconds. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect === 'function') collect()
}
