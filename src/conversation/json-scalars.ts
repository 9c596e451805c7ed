import { backslash, digitNine, digitZero, letterU, minus, point, quote } from './json-characters.ts'

// What JSON's strings, numbers and literals look like, byte by byte (RFC 8259).

/** Of each byte, whether it stands for itself in a string; above ASCII the text is known to be valid UTF-8. */
export const isPlain = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x20 && byte !== quote && byte !== backslash ? 1 : 0,
)

/** The index after the escape that begins at `start`; -1 where it is none. */
export function endOfEscape(bytes: Uint8Array, start: number): number {
  const kind = bytes[start + 1] ?? 0
  if (kind !== letterU) return isEscape[kind] === 1 ? start + 2 : -1
  for (let index = start + 2; index < start + 6; index += 1) if (!isHexDigit(bytes[index])) return -1
  return start + 6
}

/** The index after the number or literal that begins at `start`; -1 where none does. */
export function endOfScalar(bytes: Uint8Array, start: number): number {
  const first = bytes[start]
  if (first === minus || isDigit(first)) return endOfNumber(bytes, start)
  for (const literal of literals) {
    if (literal.every((byte, offset) => bytes[start + offset] === byte)) return start + literal.length
  }
  return -1
}

// --- internal ---

/** What may follow a backslash, but for `u`: `"\/bfnrt`. */
const isEscape = Uint8Array.from({ length: 256 }, (_, byte) =>
  '"\\/bfnrt'.includes(String.fromCharCode(byte)) ? 1 : 0,
)

const literals = ['true', 'false', 'null'].map((word) =>
  Uint8Array.from(word, (character) => character.charCodeAt(0)),
)

function isHexDigit(byte = 0): boolean {
  return isDigit(byte) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66)
}

function isDigit(byte = 0): boolean {
  return byte >= digitZero && byte <= digitNine
}

function endOfNumber(bytes: Uint8Array, start: number): number {
  let index = bytes[start] === minus ? start + 1 : start
  // A zero leads nothing.
  index = bytes[index] === digitZero ? index + 1 : endOfDigits(bytes, index)
  if (index !== -1 && bytes[index] === point) index = endOfDigits(bytes, index + 1)
  if (index === -1 || (bytes[index] !== 0x65 && bytes[index] !== 0x45)) return index
  const sign = bytes[index + 1]
  return endOfDigits(bytes, sign === 0x2b || sign === minus ? index + 2 : index + 1)
}

/** The index after at least one digit and at most `NUMBER_DIGITS_MAX`; -1 where there are fewer or more. */
function endOfDigits(bytes: Uint8Array, start: number): number {
  let index = start
  while (isDigit(bytes[index]) && index - start <= NUMBER_DIGITS_MAX) index += 1
  return index === start || index - start > NUMBER_DIGITS_MAX ? -1 : index
}

/** A number is scanned in one go; one of more digits is nobody's. */
const NUMBER_DIGITS_MAX = 65_536
