import { setFlagsFromString } from 'node:v8'
import { collectGarbage } from './collect-garbage.ts'

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
  keepCode()
  limitGrowth(USUAL_GROWTH)
  let isCrowded = false
  let timer: NodeJS.Timeout | null = null
  return {
    crowded: () => {
      if (isCrowded) return
      isCrowded = true
      limitGrowth(CROWDED_GROWTH)
      // The load goes on: collecting now would keep it waiting.
      if (timer !== null) clearTimeout(timer)
      timer = null
    },
    over: () => {
      if (!isCrowded) return
      isCrowded = false
      limitGrowth(USUAL_GROWTH)
      timer = setTimeout(() => collectGarbage('all'), quietMs).unref()
    },
  }
}

// --- internal ---

/** How a heap grows. */
type Growth = {
  /** By how much of what lives it may grow before it is collected. */
  readonly percent: number
  /** How many times as large the part for what is new becomes when much of it lives on. */
  readonly newSpaceFactor: number
}

const CROWDED_GROWTH: Growth = { percent: 30, newSpaceFactor: 1 }

/**
 * By itself V8 lets a heap grow by as little as a tenth where little is allocated for the time that collecting takes. Long
 * bodies look like that to it: a conversation of 4 MB had all that lives collected every other turn.
 */
const USUAL_GROWTH: Growth = { percent: 200, newSpaceFactor: 2 }

const QUIET_MS = 2_000

/**
 * Of a process that has had little to do for eight seconds V8 collects garbage, and with it the code that nothing ran
 * meanwhile and the shapes of objects that code was compiled for; shapes that no object has also go with the second
 * collection of any kind, and between two requests hardly any of theirs has one. The next requests took up to twice as
 * long, for many seconds. Garbage goes all the same.
 */
function keepCode(): void {
  // An unknown flag is reported on standard error: Node 22 has none to say this.
  if (Number.parseInt(process.versions.v8, 10) >= V8_WITH_FAVOURS)
    setFlagsFromString('--no-memory-reducer-favors-memory')
  setFlagsFromString(`--retain-maps-for-n-gc=${SHAPES_KEPT_COLLECTIONS}`)
}

/** Node 24 has it. */
const V8_WITH_FAVOURS = 13

/** Collections of the whole heap that a shape outlives without an object: hours of them. */
const SHAPES_KEPT_COLLECTIONS = 1_000

function limitGrowth({ percent, newSpaceFactor }: Growth): void {
  setFlagsFromString(`--heap-growing-percent=${percent}`)
  setFlagsFromString(`--semi-space-growth-factor=${newSpaceFactor}`)
}
