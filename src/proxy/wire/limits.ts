/** Counts the bytes of all request bodies that are held in memory at one time. */
export type ByteBudget = {
  /** Takes so many bytes, or none and returns false when they are not to be had. */
  readonly take: (bytes: number) => boolean
  readonly giveBack: (bytes: number) => void
  readonly bytesTaken: () => number
  /** Whether so much is held that memory counts for more than time. */
  readonly isCrowded: () => boolean
}

export type ByteBudgetOptions = {
  readonly bytesMax: number
  /** Called at every body that is taken while it is crowded. */
  readonly onCrowded?: () => void
  /** Called whenever nothing is held any more. */
  readonly onEmpty?: () => void
}

export function createByteBudget({ bytesMax, onCrowded, onEmpty }: ByteBudgetOptions): ByteBudget {
  let taken = 0
  return {
    take: function take(bytes) {
      if (taken + bytes > bytesMax) return false
      taken += bytes
      if (taken >= CROWDED_BYTES) onCrowded?.()
      return true
    },
    giveBack: function giveBack(bytes) {
      taken -= bytes
      if (taken === 0) onEmpty?.()
    },
    bytesTaken: () => taken,
    isCrowded: () => taken >= CROWDED_BYTES,
  }
}

/** One body's share of the budget: what it took is given back at once and only once. */
export type ByteShare = {
  readonly take: (bytes: number) => boolean
  readonly release: () => void
}

export function openShare(budget: ByteBudget): ByteShare {
  let held = 0
  let released = false
  return {
    take: function take(bytes) {
      if (released || !budget.take(bytes)) return false
      held += bytes
      return true
    },
    release: function release() {
      if (released) return
      released = true
      budget.giveBack(held)
    },
  }
}

// --- internal ---

/** More than one agent has in flight, however long its conversation. */
const CROWDED_BYTES = 32 * 1024 * 1024
