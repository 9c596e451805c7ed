import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { collectGarbage } from './collect-garbage.ts'

/**
 * Keeps the process small under a load of long conversations, and lets it become small again. V8 by itself lets a heap
 * grow to up to four times what lives in it before it collects again, where much is allocated; and it collects when
 * something is allocated, so that of a process with nothing to do the garbage of its busiest minute stays in memory until
 * the next one. To be called with true as soon as many large bodies are held at a time, and with false when none is any more.
 */
export function createHeapTidying(quietMs = QUIET_MS): (isCrowded: boolean) => void {
  keepCode()
  const usual = isRoomy() ? ROOMY_GROWTH : AS_V8_LIKES
  limitGrowth(usual)
  let timer: NodeJS.Timeout | undefined
  return function tidy(isCrowded) {
    limitGrowth(isCrowded ? CROWDED_GROWTH : usual)
    // If the load goes on, collecting now would keep it waiting.
    clearTimeout(timer)
    if (!isCrowded) timer = setTimeout(() => collectGarbage('all'), quietMs).unref()
  }
}

// --- internal ---

/** How a heap grows. */
type Growth = {
  /** By how much of what lives it may grow before it is collected; 0: as V8 likes. */
  readonly percent: number
  /** How many times as large the part for what is new becomes when much of it lives on. */
  readonly newSpaceFactor: number
}

const CROWDED_GROWTH: Growth = { percent: 30, newSpaceFactor: 1 }

/**
 * By itself V8 lets a heap grow by as little as a tenth where little is allocated for the time that collecting takes. Long
 * bodies look like that to it: a conversation of 4 MB had all that lives collected every other turn.
 */
const ROOMY_GROWTH: Growth = { percent: 200, newSpaceFactor: 2 }

/** Where memory is scarce: V8 grants a small heap less than others. */
const AS_V8_LIKES: Growth = { percent: 0, newSpaceFactor: 2 }

/** V8 gives a heap a quarter of the memory: less than this with less than about two gigabytes. */
const ROOMY_HEAP_BYTES = 512 * 1024 * 1024

/** How long a load has to have been over before garbage is collected, in milliseconds. */
const QUIET_MS = 2_000

/**
 * Of a process that has had little to do for eight seconds V8 collects garbage, and with it the code that nothing ran
 * meanwhile and the shapes of objects that code was compiled for: the next requests took twice as long, for many seconds.
 * Garbage goes all the same. Node 22 has no flag for it, and would report an unknown one on standard error.
 */
function keepCode(): void {
  if (Number.parseInt(process.versions.v8, 10) >= NODE_24_V8)
    setFlagsFromString('--no-memory-reducer-favors-memory')
}

const NODE_24_V8 = 13

function isRoomy(): boolean {
  return getHeapStatistics().heap_size_limit >= ROOMY_HEAP_BYTES
}

function limitGrowth({ percent, newSpaceFactor }: Growth): void {
  setFlagsFromString(`--heap-growing-percent=${percent}`)
  setFlagsFromString(`--semi-space-growth-factor=${newSpaceFactor}`)
}
