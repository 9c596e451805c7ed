/** Reads `count` bytes of decoded data from `offset` on; fewer where there are no more, or none can be had. */
export type ByteReader = (offset: number, count: number) => Uint8Array

/**
 * A reader of base64 text that begins at `start`. It decodes what is asked for and nothing before it; in text broken into
 * lines, where no place can be computed, the first `wrappedBytesMax` bytes once, at the first read, and nothing behind them.
 */
export function openBase64(text: string, start: number): ByteReader {
  const isWrapped = /[\r\n]/.test(text.slice(start, start + lineCharactersMax))
  let unwrapped: Uint8Array | null = null
  return function readBytes(offset, count) {
    if (isWrapped) {
      if (offset + count > wrappedBytesMax) return noBytes
      unwrapped ??= decodeBase64Prefix(text, start, wrappedBytesMax)
      return unwrapped.subarray(offset, offset + count)
    }
    // Four characters are three bytes.
    const skipped = offset % 3
    const quads = (offset - skipped) / 3
    return decodeBase64Prefix(text, start + quads * 4, skipped + count).subarray(skipped)
  }
}

/** The byte at an index; 0 behind the end. */
export function at(bytes: Uint8Array, index: number): number {
  return bytes[index] ?? 0
}

/** Whether these characters stand at `start`. */
export function hasAscii(bytes: Uint8Array, start: number, text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    if (at(bytes, start + index) !== text.charCodeAt(index)) return false
  }
  return true
}

/** The unsigned number of `count` bytes, its high byte first. */
export function bigEndian(bytes: Uint8Array, start: number, count: number): number {
  let value = 0
  for (let index = 0; index < count; index += 1) value = value * 256 + at(bytes, start + index)
  return value
}

/** The unsigned number of `count` bytes, its low byte first. */
export function littleEndian(bytes: Uint8Array, start: number, count: number): number {
  let value = 0
  for (let index = count - 1; index >= 0; index -= 1) value = value * 256 + at(bytes, start + index)
  return value
}

/**
 * At most the first `bytesMax` bytes of base64 text that begins at `start`, in the standard or the URL
 * alphabet. Line breaks are passed over; anything else that is no base64 ends it.
 *
 * @internal exported for tests
 */
export function decodeBase64Prefix(text: string, start: number, bytesMax: number): Uint8Array {
  const bytes = new Uint8Array(bytesMax)
  let length = 0
  let bits = 0
  let bitCount = 0
  for (let index = start; index < text.length && length < bytesMax; index += 1) {
    const code = text.charCodeAt(index)
    if (code === 0x0a || code === 0x0d) continue
    const sextet = sextetOf(code)
    if (sextet === -1) break
    bits = ((bits << 6) | sextet) & 0xffff
    bitCount += 6
    if (bitCount >= 8) {
      bitCount -= 8
      bytes[length] = (bits >> bitCount) & 0xff
      length += 1
    }
  }
  return bytes.subarray(0, length)
}

// --- internal ---

/** MIME breaks lines after 76 characters, PEM after 64. */
const lineCharactersMax = 80

const wrappedBytesMax = 65_536

const noBytes = new Uint8Array(0)

function sextetOf(code: number): number {
  if (code >= 0x41 && code <= 0x5a) return code - 0x41
  if (code >= 0x61 && code <= 0x7a) return code - 0x61 + 26
  if (code >= 0x30 && code <= 0x39) return code - 0x30 + 52
  if (code === 0x2b || code === 0x2d) return 62
  if (code === 0x2f || code === 0x5f) return 63
  return -1
}
