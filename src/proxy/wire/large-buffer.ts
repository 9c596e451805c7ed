/**
 * A buffer for a large body, with unspecified content. Its pages are mapped for it alone and go back to the system as
 * soon as it is collected. Of what comes from the C library's heap that is not so: after a load of bodies of some
 * megabytes glibc keeps as much memory as all of them had, for good.
 */
export function largeBuffer(bytes: number): Buffer {
  if (bytes < MAPPED_BYTES_MIN) return Buffer.allocUnsafeSlow(bytes)
  // Only buffers that could grow are mapped; this one never does.
  return Buffer.from(new ArrayBuffer(bytes, { maxByteLength: bytes }), 0, bytes)
}

// --- internal ---

/** Smaller ones find a place in the heap that others have left. */
const MAPPED_BYTES_MIN = 256 * 1024
