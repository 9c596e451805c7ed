import { getHeapStatistics, setFlagsFromString } from 'node:v8'

/**
 * Lets V8 collect when the heap has grown to three times what lived in it. By itself it grants as little as a tenth where
 * little is allocated for the time that collecting takes: long bodies look like that, and a conversation of 4 MB had all that
 * lives collected every other turn. Where memory is scarce V8 decides: it grants a small heap less. Nothing is ever
 * collected on purpose: that would hold up everybody, whenever one client likes.
 */
export function letHeapGrow(): void {
  if (getHeapStatistics().heap_size_limit >= ROOMY_HEAP_BYTES)
    setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`)
}

// --- internal ---

/** By how much of what lives the heap may grow before it is collected. */
const GROWTH_PERCENT = 200

/** V8 gives a heap a quarter of the memory: less than this with less than about two gigabytes. */
const ROOMY_HEAP_BYTES = 512 * 1024 * 1024
