/**
 * The UTF-8 bytes of a range of a text, one character a byte, as `TextEncoder` would make them: a lone surrogate
 * becomes U+FFFD. Written out because the pure folders have no `TextEncoder`.
 */
export function utf8Bytes(text: string, start: number, end: number): string {
  const bytes = new Uint8Array((end - start) * bytesPerUnitMax)
  return byteText(bytes, writeUtf8(text, start, end, bytes))
}

/** How many bytes one UTF-16 unit takes at most; a pair takes four for two. */
export const bytesPerUnitMax = 3

/** Writes the UTF-8 bytes of `text` from `start` up to `end` into `bytes` at `at`; where writing ended. */
export function writeUtf8(text: string, start: number, end: number, bytes: Uint8Array, at = 0): number {
  let length = at
  for (let index = start; index < end; index++) {
    const unit = text.charCodeAt(index)
    if (unit < 0x80) {
      bytes[length++] = unit
    } else if (unit < 0x800) {
      bytes[length++] = 0xc0 | (unit >> 6)
      bytes[length++] = 0x80 | (unit & 0x3f)
    } else if (isHighSurrogate(unit) && index + 1 < end && isLowSurrogate(text.charCodeAt(index + 1))) {
      const codePoint = text.codePointAt(index) ?? unit
      index += 1
      bytes[length++] = 0xf0 | (codePoint >> 18)
      bytes[length++] = 0x80 | ((codePoint >> 12) & 0x3f)
      bytes[length++] = 0x80 | ((codePoint >> 6) & 0x3f)
      bytes[length++] = 0x80 | (codePoint & 0x3f)
    } else {
      const written = isHighSurrogate(unit) || isLowSurrogate(unit) ? replacementCharacter : unit
      bytes[length++] = 0xe0 | (written >> 12)
      bytes[length++] = 0x80 | ((written >> 6) & 0x3f)
      bytes[length++] = 0x80 | (written & 0x3f)
    }
  }
  return length
}

/** The first `length` bytes as a text of one character a byte. */
export function byteText(bytes: Uint8Array, length: number): string {
  let text = ''
  for (let start = 0; start < length; start += argumentsMax) {
    // Spreading would walk the array by its iterator, three times slower.
    text += Reflect.apply(
      String.fromCharCode,
      null,
      bytes.subarray(start, Math.min(length, start + argumentsMax)),
    )
  }
  return text
}

/** Whether a character is the first half of a pair, so that a text must not be cut after it. */
export function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}

// --- internal ---

const replacementCharacter = 0xfffd

// Arguments are laid on the stack, which holds some tens of thousands.
const argumentsMax = 4096

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff
}
