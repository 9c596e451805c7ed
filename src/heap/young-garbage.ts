import { collectGarbage } from './collect-garbage.ts'

/**
 * Bodies come and go in buffers, which V8 sees as small objects that die young but counts in full: it lets 64 MB of them
 * gather, and then collects the whole heap, 10 to 40 ms of work. To collect what is new in time takes less than one, and
 * frees nearly all of them.
 */
let passedBytes = 0
let isDue = false

/** So many bytes of a body have passed. */
export function bytesPassed(bytes: number): void {
  passedBytes += bytes
  if (passedBytes >= URGENT_BYTES) collectSoon()
}

/** An exchange is over: the moment in which a collection keeps the fewest waiting. */
export function exchangeOver(): void {
  if (passedBytes >= ENOUGH_BYTES) collectSoon()
}

// --- internal ---

/** Below this a collection costs more than it spares. */
const ENOUGH_BYTES = 4 * 1024 * 1024

/** Well before V8 collects everything: each byte may stand in two buffers by then. */
const URGENT_BYTES = 16 * 1024 * 1024

function collectSoon(): void {
  if (isDue) return
  isDue = true
  setImmediate(() => {
    isDue = false
    passedBytes = 0
    collectGarbage('young')
  })
}
