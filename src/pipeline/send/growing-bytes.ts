/** Bytes that come in pieces, however small, and lie in one place: a list of a million pieces takes a hundred times their bytes. */
export type GrowingBytes = {
  readonly add: (piece: Buffer) => void
  readonly length: () => number
  /** All of them; it is empty then. */
  readonly take: () => Buffer
}

export function createGrowingBytes(): GrowingBytes {
  let bytes = nothing
  let length = 0
  return {
    add: (piece) => {
      if (piece.length === 0) return
      if (length + piece.length > bytes.length) {
        // Twice as much each time: what is copied stays within twice of what came.
        const larger = Buffer.allocUnsafeSlow(Math.max(BYTES_MIN, 2 * bytes.length, length + piece.length))
        bytes.copy(larger, 0, 0, length)
        bytes = larger
      }
      length += piece.copy(bytes, length)
    },
    length: () => length,
    take: () => {
      const all = bytes.subarray(0, length)
      bytes = nothing
      length = 0
      return all
    },
  }
}

// --- internal ---

const nothing = Buffer.alloc(0)

/** What an event mostly takes, in bytes. */
const BYTES_MIN = 1_024
