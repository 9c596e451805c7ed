import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

export type HeapTidying = {
  /** Many large bodies are held at a time. */
  readonly crowded: () => void
  /** None is held any more. */
  readonly over: () => void
}

export type HeapTidyingOptions = {
  /** How long a load has to have been over before garbage is collected, in milliseconds. Default 2,000. */
  readonly quietMs?: number
}

/**
 * Keeps the process small under a load of long conversations, and lets it become small again. V8 by itself lets a heap
 * grow to several times what lives in it before it collects again, which is the quickest where memory is for the asking;
 * and it collects when something is allocated, so that of a process with nothing to do the garbage of its busiest minute
 * stays in memory until the next one.
 */
export function createHeapTidying({ quietMs = QUIET_MS }: HeapTidyingOptions = {}): HeapTidying {
  let isCrowded = false
  let timer: NodeJS.Timeout | null = null
  return {
    crowded: () => {
      if (isCrowded) return
      isCrowded = true
      limitGrowth(CROWDED_GROWTH_PERCENT)
      // The load goes on: collecting now would keep it waiting.
      if (timer !== null) clearTimeout(timer)
      timer = null
    },
    over: () => {
      if (!isCrowded) return
      isCrowded = false
      limitGrowth(AS_V8_LIKES)
      timer = setTimeout(collectGarbage, quietMs).unref()
    },
  }
}

// --- internal ---

/** By how much of what lives the heap may grow before it is collected, while many bodies are held. */
const CROWDED_GROWTH_PERCENT = 30

const AS_V8_LIKES = 0

const QUIET_MS = 2_000

function limitGrowth(percent: number): void {
  setFlagsFromString(`--heap-growing-percent=${percent}`)
}

/** As long as it takes to mark what lives: some tens of milliseconds. Twice: the first frees pages, the second gives them back. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect !== 'function') return
  collect()
  setImmediate(() => void collect())
}
