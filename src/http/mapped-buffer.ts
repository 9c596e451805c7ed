/**
 * A buffer whose pages are mapped for it alone, zeroed, and go back to the system as soon as it is collected. Of what
 * comes from the C library's heap that is not so: after a load of bodies of some megabytes glibc keeps as much memory
 * as all of them had, for good. Mapping takes time: a few hundred microseconds for a body of 4 MB.
 */
export function mappedBuffer(bytes: number): Buffer {
  // Only buffers that could grow are mapped; this one never does.
  return Buffer.from(new ArrayBuffer(bytes, { maxByteLength: bytes }), 0, bytes)
}
