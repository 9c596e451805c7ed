import { createFairShare, type Holder, type Lease } from '../scheduling/fair-share.ts'

/** Counts the bytes of all request bodies that are held in memory at one time, and shares them out among clients. */
export type ByteBudget = {
  /** One request's share of it. */
  readonly open: (holder: Holder) => Lease
  readonly bytesMax: number
  readonly bytesTaken: () => number
  /** Whether so much is held that memory counts for more than time. */
  readonly isCrowded: () => boolean
}

export type ByteBudgetOptions = {
  readonly bytesMax: number
  /** Called whenever bytes are taken while it is crowded. */
  readonly onCrowded?: () => void
  /** Called whenever nothing is held any more. */
  readonly onEmpty?: () => void
}

export function createByteBudget({ bytesMax, onCrowded, onEmpty }: ByteBudgetOptions): ByteBudget {
  const share = createFairShare({
    max: bytesMax,
    lends: true,
    onChange: (bytes) => {
      if (bytes >= CROWDED_BYTES) onCrowded?.()
      if (bytes === 0) onEmpty?.()
    },
  })
  return {
    open: share.open,
    bytesMax,
    bytesTaken: share.taken,
    isCrowded: () => share.taken() >= CROWDED_BYTES,
  }
}

// --- internal ---

/** More than one agent has in flight, however long its conversation. */
const CROWDED_BYTES = 32 * 1024 * 1024
