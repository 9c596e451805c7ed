import { pauseIfDue } from './drive.ts'

/**
 * Makes one buffer of a body's pieces. `length` is what the body will come to, in bytes, where that is known: then a large
 * one has its place before it is complete, and each piece goes there as it comes. `isCrowded`: memory counts for more
 * than time.
 */
export function gather(length: number | null, isCrowded: () => boolean) {
  let pieces: Buffer[] = []
  let bytes = 0
  let place: Buffer | null = null
  // A length is a word: memory for the whole is asked for when a part of it is there. The system gives it page by page as
  // it is written, so what has not come takes none; but address space is bounded, too, and V8 collects by what is asked for.
  const placedFrom = length === null ? Number.POSITIVE_INFINITY : Math.max(SMALL_BYTES, length * PLACED_SHARE)

  return {
    add: (piece: Buffer): void => {
      if (place !== null && length !== null) {
        bytes += piece.copy(place, bytes)
        return
      }
      pieces.push(piece)
      bytes += piece.length
      if (length === null || bytes < placedFrom) return
      place = placeFor(length, isCrowded())
      copyInto(place, pieces)
      pieces = []
    },
    /** All of them, once the last has come. */
    whole: async (): Promise<Buffer> => {
      if (place !== null) return place.subarray(0, bytes)
      const [only] = pieces
      if (only !== undefined && pieces.length === 1) return only
      if (bytes < AT_ONCE_BYTES) return Buffer.concat(pieces)
      const all = pieces
      pieces = []
      return joined(all, placeFor(bytes, isCrowded()))
    },
  }
}

// --- internal ---

/** Smaller bodies mostly are one piece, which is taken as it is. */
const SMALL_BYTES = 64 * 1024

const PLACED_SHARE = 1 / 16

/** Copied in less than a millisecond. */
const AT_ONCE_BYTES = 1024 * 1024

function placeFor(bytes: number, isCrowded: boolean): Buffer {
  return isCrowded ? mappedBuffer(bytes) : Buffer.allocUnsafeSlow(bytes)
}

/**
 * A buffer whose pages are mapped for it alone, zeroed, and go back to the system as soon as it is collected. Of what
 * comes from the C library's heap that is not so: after a load of bodies of some megabytes glibc keeps as much memory
 * as all of them had, for good. Mapping takes time: a few hundred microseconds for a body of 4 MB.
 */
function mappedBuffer(bytes: number): Buffer {
  // Only buffers that could grow are mapped; this one never does.
  return Buffer.from(new ArrayBuffer(bytes, { maxByteLength: bytes }), 0, bytes)
}

function copyInto(place: Buffer, pieces: readonly Buffer[]): void {
  let at = 0
  for (const piece of pieces) at += piece.copy(place, at)
}

/** Lets others in between, and lets go of each piece that was copied. */
async function joined(pieces: Buffer[], place: Buffer): Promise<Buffer> {
  let at = 0
  for (const [index, piece] of pieces.entries()) {
    at += piece.copy(place, at)
    pieces[index] = nothing
    await pauseIfDue()
  }
  return place
}

const nothing = Buffer.alloc(0)
