/**
 * At most the first `bytesMax` bytes of base64 text that begins at `start`, in the standard or the URL
 * alphabet. Line breaks are passed over; anything else that is no base64 ends it.
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

function sextetOf(code: number): number {
  if (code >= 0x41 && code <= 0x5a) return code - 0x41
  if (code >= 0x61 && code <= 0x7a) return code - 0x61 + 26
  if (code >= 0x30 && code <= 0x39) return code - 0x30 + 52
  if (code === 0x2b || code === 0x2d) return 62
  if (code === 0x2f || code === 0x5f) return 63
  return -1
}
